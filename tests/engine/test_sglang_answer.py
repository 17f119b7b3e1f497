"""One answer of SGLang's from its chunks alone: counts, texts, and how it ended."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.protocol import Generate, Sampling, Turn
from spark_chat.engine.reasoning import ReasoningSplitter
from spark_chat.engine.sglang_answer import Answer


class Counted:
    """The plugin's counters: `known` at a number of tokens."""

    def __init__(self, known: dict[int, tuple[int, int]] | None = None) -> None:
        self.known = known or {}

    def at(self, rid: str, tokens: int) -> Any:
        assert rid == "rid"
        if tokens not in self.known:
            return None
        verify, accepted = self.known[tokens]
        return SimpleNamespace(verify_steps=verify, accepted_drafts=accepted, histogram=(1, verify - 1))


def answer(counters: Counted, room: int = 100, max_tokens: int = 100, opened: bool = False, **more: Any) -> Answer:
    command = Generate(id="a", messages=[Turn("user", "x")], sampling=Sampling(max_tokens=max_tokens))
    found = Answer(command, "rid", 7, room, counters, ReasoningSplitter(opened), **more)
    found.begin(10.0)
    return found


def chunk(text: str, tokens: int, **meta: Any) -> dict[str, Any]:
    return {"text": text, "meta_info": {"completion_tokens": tokens, **meta}}


def test_counts_of_speculation_go_with_the_tokens() -> None:
    found = answer(Counted({1: (0, 0), 5: (1, 3), 8: (2, 5)}))
    first = found.take(chunk("one", 1), 3, 10.5)
    assert (first.tokens, first.verify_steps, first.accepted_drafts, first.proposed_drafts) == (1, 0, 0, 0)
    more = found.take(chunk(" two", 5, cached_tokens=4), 3, 11.0)
    assert (more.verify_steps, more.accepted_drafts, more.proposed_drafts, more.draft_length) == (1, 3, 3, 3)
    assert more.cached_tokens == 4 and more.text == " two"
    found.take(chunk("", 8, finish_reason={"type": "stop"}, spec_verify_ct=2, other=1), 3, 11.5)
    done = found.done(3, 12.0)
    assert (done.finish, done.usage.completion_tokens, done.usage.prompt_tokens) == ("stop", 8, 7)
    assert (done.usage.verify_steps, done.usage.accepted_drafts, done.usage.proposed_drafts) == (2, 5, 6)
    assert done.usage.accepted_histogram == [1, 1]
    assert done.timings.prefill_s == 0.5 and done.timings.engine["spec_verify_ct"] == 2
    assert "other" not in done.timings.engine


@pytest.mark.parametrize(("steps", "counts"), [(None, None), (3, 0)])
def test_where_nothing_was_counted_yet(steps: int | None, counts: int | None) -> None:
    delta = answer(Counted()).take(chunk("x", 1), steps, 11.0)
    assert (delta.verify_steps, delta.accepted_drafts, delta.proposed_drafts) == (counts, counts, counts)


def test_changing_draft_lengths_have_no_product() -> None:
    found = answer(Counted({9: (2, 6)}), adaptive=True)
    delta = found.take(chunk("x", 9), 5, 11.0)
    assert delta.proposed_drafts is None and delta.draft_length == 5
    assert found.done(5, 12.0).usage.proposed_drafts is None


def test_tokens_of_a_thought_are_counted_apart() -> None:
    found = answer(Counted(), opened=True)
    assert found.take(chunk("hm", 2), None, 11.0).reasoning == "hm"
    found.take(chunk("</think>\n\n", 3), None, 11.0)
    delta = found.take(chunk("yes", 4, finish_reason={"type": "stop"}), None, 11.0)
    assert (delta.text, delta.reasoning) == ("yes", "")
    usage = found.done(None, 12.0).usage
    assert (usage.reasoning_tokens, usage.completion_tokens) == (3, 4)


@pytest.mark.parametrize(
    ("kind", "room", "finish"),
    [("stop", 100, "stop"), ("length", 100, "length"), ("length", 20, "context"), ("abort", 100, "abort")],
)
def test_how_it_ended(kind: str, room: int, finish: str) -> None:
    found = answer(Counted(), room=room)
    found.take(chunk("x", 1, finish_reason={"type": kind}), None, 11.0)
    assert found.done(None, 12.0).finish == finish


def test_what_sglang_gave_up_is_a_failure() -> None:
    found = answer(Counted())
    found.take(chunk("x", 1, finish_reason={"type": "abort", "status_code": 500, "message": "no room"}), None, 11.0)
    with pytest.raises(EngineFailure) as raised:
        found.done(None, 12.0)
    assert raised.value.told(0.0).why == "no room"


def test_text_that_turns_out_to_be_a_thought_says_so_and_counts_as_one() -> None:
    found = answer(Counted())
    assert found.take(chunk("hm, hm\n", 2), None, 11.0).text == "hm, hm\n"
    delta = found.take(chunk("</think>\n\n", 3), None, 11.0)
    assert delta.was_thought
    last = found.take(chunk("yes", 4, finish_reason={"type": "stop"}), None, 11.0)
    assert (last.text, last.was_thought) == ("yes", False)
    assert found.done(None, 12.0).usage.reasoning_tokens == 3
