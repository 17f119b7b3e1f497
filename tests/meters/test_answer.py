"""The meter of one answer against a plain computation over the whole list of events."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from spark_chat.engine.protocol import Delta, Done, Failed, Progress, Started, Timings, Usage
from spark_chat.meters.answer import WINDOW_S, AnswerMeter
from spark_chat.meters.numbers import AnswerNumbers
from tests.meters.streams import Stream, streams


def measured(stream: Stream) -> AnswerNumbers:
    meter = AnswerMeter(stream.submitted)
    for event in stream.events:
        meter.feed(event)
    return meter.numbers()


def chunks(stream: Stream) -> list[tuple[float, int, int]]:
    """(time, tokens so far, steps so far) of each moment at which the count of tokens grew."""
    rows: list[tuple[float, int, int]] = []
    for event in stream.events:
        if isinstance(event, Delta):
            row = (event.time, event.tokens, event.verify_steps or 0)
        elif isinstance(event, Done):
            row = (event.time, event.usage.completion_tokens, event.usage.verify_steps or 0)
        else:
            continue
        if row[1] > (rows[-1][1] if rows else 0):
            rows.append(row)
    return rows


def same(seen: float | None, wanted: float | None) -> bool:
    if seen is None or wanted is None:
        return seen is wanted
    return math.isclose(seen, wanted, rel_tol=1e-9)


def test_text_that_turns_out_to_be_a_thought_counts_as_one() -> None:
    meter = AnswerMeter(0.0)
    meter.feed(Started(id="a", time=0.0))
    meter.feed(Delta(id="a", text="hm", tokens=2, time=1.0))
    meter.feed(Delta(id="a", text=" so", tokens=4, time=2.0))
    assert (meter.numbers().reasoning_tokens, meter.numbers().reasoning_s) == (0, None)
    meter.feed(Delta(id="a", tokens=5, was_thought=True, time=3.0))
    meter.feed(Delta(id="a", text="fine", tokens=7, time=4.0))
    meter.feed(Delta(id="a", text=" end", tokens=9, time=6.0))
    numbers = meter.numbers()
    assert (numbers.tokens, numbers.reasoning_tokens, numbers.reasoning_s) == (9, 4, 3.0)


@given(streams())
def test_whole_answer_equals_a_plain_computation(stream: Stream) -> None:
    numbers, rows = measured(stream), chunks(stream)
    begun = stream.events[0].time
    last = stream.events[-1]

    assert numbers.tokens == (rows[-1][1] if rows else 0)
    assert same(numbers.waited_s, begun - stream.submitted)
    assert same(numbers.ttft_s, rows[0][0] - begun if rows else None)
    assert same(numbers.latency_s, rows[-1][0] - begun if rows else None)

    seconds = rows[-1][0] - rows[0][0] if rows else 0
    decode = (rows[-1][1] - rows[0][1]) / seconds if seconds > 0 else None
    assert same(numbers.decode_tok_s, decode)
    assert same(numbers.tpot_ms, None if decode is None else 1000 / decode)
    if len(rows) < 2:
        assert numbers.decode_tok_s is None and numbers.tpot_ms is None

    steps = [
        event.usage.verify_steps if isinstance(event, Done) else event.verify_steps
        for event in stream.events
        if isinstance(event, Delta | Done)
    ]
    final = steps[-1] if steps else None
    assert numbers.verify_steps == final
    gave = 0 if not numbers.tokens else 1
    assert same(numbers.accept_length, (numbers.tokens - gave) / final if final else None)

    if isinstance(last, Done):
        assert (numbers.prompt_tokens, numbers.finish) == (last.usage.prompt_tokens, last.finish)
        assert numbers.cached_tokens == last.usage.cached_tokens
        fresh = last.usage.prompt_tokens - last.usage.cached_tokens
        seconds = numbers.ttft_s if last.timings.prefill_s is None else last.timings.prefill_s
        assert same(numbers.prefill_tok_s, fresh / seconds if seconds and fresh >= 16 else None)


@given(streams())
def test_live_numbers_cover_the_last_second(stream: Stream) -> None:
    meter = AnswerMeter(stream.submitted)
    seen: list[tuple[float, int, int]] = []
    for index, event in enumerate(stream.events):
        meter.feed(event)
        numbers = meter.numbers()
        seen = chunks(Stream(stream.submitted, stream.events[: index + 1]))
        if numbers.finish is not None:
            assert numbers.live_tok_s is None and numbers.live_accept_length is None
        elif len(seen) < 2:
            assert numbers.live_tok_s is None
        else:
            now = seen[-1]
            before = [row for row in seen[:-1] if row[0] <= now[0] - WINDOW_S] or seen[:1]
            base = before[-1]
            seconds = now[0] - base[0]
            assert same(numbers.live_tok_s, (now[1] - base[1]) / seconds if seconds > 0 else None)
            steps = now[2] - base[2]
            assert same(numbers.live_accept_length, (now[1] - base[1]) / steps if steps else None)


@given(streams())
def test_nothing_is_negative_or_infinite(stream: Stream) -> None:
    meter = AnswerMeter(stream.submitted)
    for event in stream.events:
        meter.feed(event)
        for name, value in vars(meter.numbers()).items():
            if isinstance(value, int | float):
                assert value >= 0 and math.isfinite(value), name


def delta(time: float, tokens: int, **more: object) -> Delta:
    return Delta(id="a", time=time, tokens=tokens, **more)  # type: ignore[arg-type]


def done(time: float, tokens: int, **more: object) -> Done:
    usage = {"prompt_tokens": 10, "cached_tokens": 0, "completion_tokens": tokens, **more}
    return Done(id="a", finish="stop", time=time, usage=Usage(**usage))  # type: ignore[arg-type]


def test_the_published_example() -> None:
    meter = AnswerMeter(0.0)
    meter.feed(Started(id="a", time=0.5))
    meter.feed(delta(1.0, 1))
    meter.feed(delta(2.0, 4, verify_steps=1, accepted_drafts=2))
    meter.feed(delta(3.0, 7, verify_steps=3, accepted_drafts=3))
    meter.feed(done(3.0, 7, verify_steps=3, accepted_drafts=3))
    numbers = meter.numbers()
    assert (numbers.waited_s, numbers.ttft_s, numbers.tokens) == (0.5, 0.5, 7)
    assert numbers.decode_tok_s == pytest.approx(6 / 2.0)
    assert numbers.tpot_ms == pytest.approx(2000 / 6)
    assert numbers.accept_length == pytest.approx(6 / 3)


def test_ids_cut_off_after_the_end_count_nowhere() -> None:
    """A verify step gave five ids, the limit let four through: the step counts, the fifth id does not."""
    meter = AnswerMeter(0.0)
    for event in (Started(id="a", time=0.0), delta(1.0, 1), done(2.0, 5, verify_steps=1, accepted_drafts=4)):
        meter.feed(event)
    assert meter.numbers().accept_length == pytest.approx(4.0)
    assert meter.numbers().tokens == 5


def test_an_empty_answer_has_no_speeds() -> None:
    meter = AnswerMeter(0.0)
    for event in (Started(id="a", time=1.0), done(2.0, 0, prefill_tokens=0)):
        meter.feed(event)
    numbers = meter.numbers()
    assert numbers.tokens == 0 and numbers.finish == "stop"
    assert (numbers.ttft_s, numbers.decode_tok_s, numbers.tpot_ms, numbers.accept_length) == (None,) * 4


def test_one_chunk_has_a_first_token_and_no_speed() -> None:
    meter = AnswerMeter(0.0)
    for event in (Started(id="a", time=1.0), delta(1.25, 5), done(1.25, 5)):
        meter.feed(event)
    assert meter.numbers().ttft_s == 0.25
    assert meter.numbers().decode_tok_s is None


def test_a_chunk_without_a_token_is_not_the_first() -> None:
    meter = AnswerMeter(0.0)
    for event in (Started(id="a", time=1.0), delta(1.1, 0), delta(1.5, 1)):
        meter.feed(event)
    assert meter.numbers().ttft_s == 0.5


def test_stopped_before_the_engine_was_asked() -> None:
    meter = AnswerMeter(3.0)
    meter.feed(Failed(id="a", code="died", what="The engine's process has ended.", time=4.0))
    assert meter.numbers() == AnswerNumbers(finish="failed")


def test_prefill_counts_only_what_was_computed() -> None:
    meter = AnswerMeter(0.0)
    meter.feed(Started(id="a", time=0.0))
    meter.feed(delta(0.5, 1))
    usage = Usage(prompt_tokens=187, cached_tokens=171, completion_tokens=1)
    meter.feed(Done(id="a", finish="stop", usage=usage, timings=Timings(prefill_s=0.1), time=0.5))
    assert meter.numbers().prefill_tok_s == pytest.approx(16 / 0.1)


def test_a_handful_of_prompt_tokens_has_no_rate() -> None:
    meter = AnswerMeter(0.0)
    meter.feed(Started(id="a", time=0.0))
    usage = Usage(prompt_tokens=186, cached_tokens=171, completion_tokens=1)
    meter.feed(Done(id="a", finish="stop", usage=usage, timings=Timings(prefill_s=0.1), time=0.5))
    assert meter.numbers().prefill_tok_s is None


def test_prompt_known_early_survives_a_failure() -> None:
    meter = AnswerMeter(0.0)
    meter.feed(Started(id="a", time=0.0))
    meter.feed(delta(0.5, 1, prompt_tokens=30, cached_tokens=20))
    meter.feed(Failed(id="a", code="died", what="Gone.", time=1.0))
    numbers = meter.numbers()
    assert (numbers.prompt_tokens, numbers.cached_tokens, numbers.tokens) == (30, 20, 1)


def test_reasoning_is_timed_until_the_answer_begins() -> None:
    meter = AnswerMeter(0.0)
    meter.feed(Started(id="a", time=0.0))
    meter.feed(delta(1.0, 2, reasoning="hm"))
    meter.feed(delta(2.0, 5, reasoning="so"))
    meter.feed(delta(3.5, 6, text="It is"))
    meter.feed(delta(9.0, 9, text=" 4."))
    numbers = meter.numbers()
    assert (numbers.reasoning_tokens, numbers.reasoning_s) == (5, 2.5)


def test_the_engines_own_reasoning_count_wins() -> None:
    meter = AnswerMeter(0.0)
    for event in (Started(id="a", time=0.0), delta(1.0, 2, reasoning="hm"), done(2.0, 4, reasoning_tokens=3)):
        meter.feed(event)
    assert meter.numbers().reasoning_tokens == 3


def test_events_of_the_engine_change_nothing() -> None:
    meter = AnswerMeter(0.0)
    meter.feed(Progress(stage="weights", time=1.0))
    assert meter.numbers() == AnswerNumbers()
