"""Exact counts, against a server loop written out from llama.cpp's rules, for any drafts, stops and hidden ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.llama_steps import Steps, counters, whole_steps


@dataclass
class Step:
    """One verify step: `drafted` proposed, `accepted` of them right; it gives accepted + 1 ids."""

    drafted: int
    accepted: int


@st.composite
def decoding(draw: st.DrawFn) -> list[Step]:
    steps = []
    for _ in range(draw(st.integers(0, 12))):
        drafted = draw(st.integers(0, 5))
        steps.append(Step(drafted, draw(st.integers(0, drafted))))
    return steps


def ids(steps: list[Step]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(step's number, place in it, timings) of each id: drafts count at a step's first id, the clock once a step."""
    yield 0, 0, timings(1, 0, 0, 0)
    so_far, drafted, accepted = 1, 0, 0
    for number, step in enumerate(steps, 1):
        drafted, accepted = drafted + step.drafted, accepted + step.accepted
        for place in range(step.accepted + 1):
            so_far += 1
            yield number, place, timings(so_far, drafted, accepted, number)


def timings(predicted: int, drafted: int, accepted: int, moment: int) -> dict[str, Any]:
    found: dict[str, Any] = {"predicted_n": predicted, "predicted_ms": moment * 7.25 + 0.001}
    return {**found, "draft_n": drafted, "draft_n_accepted": accepted} if drafted else found


def truth(steps: list[Step], stop: int) -> tuple[int, int, int, list[int]]:
    """Ids, steps, accepted drafts and bars of the first `stop` ids, counted one by one."""
    came = Counter(number for number, _, _ in list(ids(steps))[:stop] if number)
    bars: Counter[int] = Counter()
    for number, count in came.items():
        bars[min(count, steps[number - 1].accepted)] += 1
    accepted = sum(size * many for size, many in bars.items())
    top = max(bars, default=0)
    return stop, len(came), accepted, [bars[size] for size in range(top + 1)]


def engine_bars(steps: list[Step], stop: int) -> list[int]:
    """What llama.cpp's own counters would say: whole steps with a draft."""
    ran = {number for number, _, _ in list(ids(steps))[:stop] if number}
    bars = Counter(steps[number - 1].accepted for number in ran if steps[number - 1].drafted)
    return [bars[size] for size in range(max(bars, default=0) + 1)]


@given(decoding(), st.data())
def test_every_stop_is_counted_exactly(steps: list[Step], data: st.DataObject) -> None:
    chunks = list(ids(steps))
    stop = data.draw(st.integers(1, len(chunks)))
    follow = Steps()
    for seen, (_, _, figures) in enumerate(chunks[:stop], 1):
        follow.take(figures)
        live = follow.counts()
        assert (live.tokens, live.steps, live.accepted) == truth(steps, seen)[:3]
    assert follow.histogram() == follow.histogram(engine_bars(steps, stop)) == truth(steps, stop)[3]


@given(decoding(), st.data())
def test_ids_without_a_chunk_do_not_matter_where_a_step_ended(steps: list[Step], data: st.DataObject) -> None:
    """Any ids may be hidden, as parts of a character are, but for the last, at an end where no step is cut."""
    chunks = list(ids(steps))
    follow = Steps()
    for _, _, figures in chunks[:-1]:
        if data.draw(st.booleans()):
            follow.take(figures)
    follow.take(chunks[-1][2])
    follow.end_uncut()
    count = follow.counts()
    assert (count.tokens, count.steps, count.accepted) == truth(steps, len(chunks))[:3]
    assert follow.histogram(engine_bars(steps, len(chunks))) == truth(steps, len(chunks))[3]


@given(decoding(), st.data())
def test_a_hidden_end_is_exact_where_every_step_has_a_draft(steps: list[Step], data: st.DataObject) -> None:
    """A model's own block drafts at every step: the engine's count of steps then settles what was cut."""
    steps = [Step(max(1, step.drafted), step.accepted) for step in steps]
    chunks = list(ids(steps))
    stop = data.draw(st.integers(1, len(chunks)))
    follow = Steps()
    for _, _, figures in chunks[: stop - 1]:
        if data.draw(st.booleans()):
            follow.take(figures)
    follow.take(chunks[stop - 1][2])
    whole = engine_bars(steps, stop)
    follow.settle(sum(whole))
    count = follow.counts()
    assert (count.tokens, count.steps) == truth(steps, stop)[:2]


@given(decoding())
def test_ids_are_one_prefill_plus_steps_plus_drafts(steps: list[Step]) -> None:
    follow = Steps()
    for _, _, figures in ids(steps):
        follow.take(figures)
        count = follow.counts()
        assert count.tokens == 1 + count.steps + count.accepted - (1 if count.cut else 0)


def test_nothing_came() -> None:
    follow = Steps()
    follow.take({"predicted_n": 0})
    count = follow.counts()
    assert (count.tokens, count.steps, count.accepted, count.cut) == (0, 0, 0, 0)


def test_reads_the_metrics_text() -> None:
    text = """# HELP llamacpp:n_decode_total Total number of llama_decode() calls
# TYPE llamacpp:n_decode_total counter
llamacpp:n_decode_total 45
llamacpp:spec_decode_num_drafts_total 5
llamacpp:prompt_tokens_seconds 45.97
# TYPE llamacpp:spec_decode_num_accepted_tokens_per_pos_total counter
llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 3
llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="1"} 1
llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="2"} 0
"""
    assert whole_steps(text) == [2, 2, 1, 0]
    assert counters(text) == {"n_decode_total": 45.0, "spec_decode_num_drafts_total": 5.0}
    assert whole_steps("") == [0] and counters("an error") == {}
