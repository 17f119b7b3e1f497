"""What the probe reads of a draft: from the objects that run, not from what was asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from spark_chat.sglang_plugin import probe


def drafted(own: Any, target: Any, *, tied: bool = False, asked: bool = False, controller: Any = None) -> Any:
    """The probe's report of a draft with head `own` beside a target with head `target`."""
    models = [SimpleNamespace(lm_head=own, named_modules=lambda: [])]
    worker = SimpleNamespace(
        _draft_model_runners=lambda: [SimpleNamespace(model=model) for model in models],
        speculative_num_steps=3, adaptive_controller=controller,
    )  # fmt: skip
    scheduler = SimpleNamespace(draft_worker=worker, server_args=SimpleNamespace(speculative_adaptive=asked))
    config = SimpleNamespace(text_config=SimpleNamespace(tie_word_embeddings=tied))
    return probe.draft(scheduler, SimpleNamespace(lm_head=target, config=config))


def test_a_whole_head_is_shared_or_is_not() -> None:
    weight = object()
    head, other = SimpleNamespace(weight=weight), SimpleNamespace(weight=weight)
    assert drafted(head, head)["head_is_target"] is True
    found = drafted(other, head)
    assert found["head_is_target"] is False and found["tied"] is False, "a weight alone is not the head"


def test_a_tied_heads_weight_is_enough_and_must_be_the_same() -> None:
    weight = object()
    head, other = SimpleNamespace(weight=weight), SimpleNamespace(weight=weight)
    assert drafted(other, head, tied=True)["tied"] is True
    assert drafted(SimpleNamespace(weight=object()), head, tied=True)["tied"] is False


def test_steps_are_adaptive_only_where_a_controller_runs() -> None:
    head = SimpleNamespace(weight=object())
    refused = drafted(head, head, asked=True)
    assert refused["adaptive"] is False and refused["adaptive_refused"]
    runs = drafted(head, head, asked=True, controller=object())
    assert runs["adaptive"] is True and runs["adaptive_refused"] == ""
    assert drafted(head, head)["adaptive_refused"] == ""
