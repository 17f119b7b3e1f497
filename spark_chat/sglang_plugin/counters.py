"""Verify steps and accepted drafts of every streamed chunk, live.

Why: SGLang 0.5.23 sends these counts to the worker's process with every batch, but puts them into `meta_info` only
of a request's last chunk. Kept here by request and token count, so that a chunk finds exactly its own.
For: SGLang 0.5.23. Can go: once intermediate chunks carry `spec_verify_ct` and `spec_num_correct_drafts`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spark_chat.sglang_plugin import hooks, switches

TARGET = "sglang.srt.managers.tokenizer_manager.TokenizerManager._handle_batch_output"


class Counts(NamedTuple):
    """Cumulative over one request. `histogram[n]`: steps that accepted n drafts."""

    verify_steps: int
    accepted_drafts: int
    histogram: tuple[int, ...]


_watched: dict[str, dict[int, Counts]] = {}


def register() -> None:
    if switches.counters():
        hooks.add("counters", TARGET, "before", _before_batch)


def watch(rid: str) -> None:
    """Keep counts of this request until `forget`."""
    _watched[rid] = {}


def forget(rid: str) -> None:
    _watched.pop(rid, None)


def at(rid: str, tokens: int) -> Counts | None:
    """Counts at the moment that the request had `tokens`, or the newest before; None where nothing is known."""
    seen = _watched.get(rid)
    if not seen:
        return None
    known = [count for count in seen if count <= tokens]
    if not known:
        return None
    newest = max(known)
    for count in known:
        if count != newest:
            del seen[count]
    return seen[newest]


def _before_batch(_self: Any, received: Any, *_args: Any, **_kwargs: Any) -> None:
    verify = getattr(received, "spec_verify_ct", None)
    if not verify:
        return
    correct = received.spec_num_correct_drafts
    histograms = getattr(received, "spec_correct_drafts_histogram", None) or []
    for index, rid in enumerate(received.rids):
        seen = _watched.get(rid)
        if seen is not None and index < len(verify):
            histogram = histograms[index] if index < len(histograms) else ()
            seen[received.completion_tokens[index]] = Counts(verify[index], correct[index], tuple(histogram or ()))
