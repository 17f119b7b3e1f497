"""What is counted over all answers of one start."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.protocol import Delta, Done, Failed, Past, Progress, Ready, Started, Usage
from spark_chat.meters.answer import AnswerMeter
from spark_chat.meters.session import SessionMeter, Stage
from tests.meters.streams import Stream, streams


def ready(time: float = 5.0, cold_turns: int = 1) -> Ready:
    return Ready(engine="x", version="1", model="m", context=2048, proofs={}, cold_turns=cold_turns, time=time)


def test_stage_times_fill_the_start_without_a_gap() -> None:
    meter = SessionMeter(begun=0.0)
    for event in (
        Progress(stage="import", time=0.5), Progress(stage="weights", fraction=0.1, time=2.0),
        Progress(stage="weights", fraction=0.9, time=3.0), Progress(stage="graphs", time=4.0), ready(5.0),
    ):  # fmt: skip
        meter.feed(event)
    assert meter.stages() == (Stage("start", 0.5), Stage("import", 1.5), Stage("weights", 2.0), Stage("graphs", 1.0))
    assert sum(stage.seconds for stage in meter.stages()) == meter.ready_s == 5.0


def test_no_stages_until_the_engine_is_up() -> None:
    meter = SessionMeter(begun=0.0)
    meter.feed(Progress(stage="weights", time=1.0))
    assert meter.stages() == () and meter.ready_s is None


@pytest.mark.parametrize("cold_turns", [0, 1, 8])
def test_the_engine_says_how_many_turns_are_cold(cold_turns: int) -> None:
    meter = SessionMeter(begun=0.0)
    meter.feed(ready(cold_turns=cold_turns))
    cold = []
    for turn in range(10):
        cold.append(meter.next_is_cold)
        meter.feed(Started(id=str(turn), time=turn))
    assert sum(cold) == cold_turns and cold == sorted(cold, reverse=True)
    assert meter.turns == 10


@given(streams())
def test_an_engine_that_was_taken_over_brings_its_counts(answer: Stream) -> None:
    past = Past(age_s=60, turns=3, tokens=100, prefill_tokens=3, verify_steps=40, accepted_drafts=57, stages={"x": 9.0})
    meter, own = SessionMeter(begun=4.5), SessionMeter(begun=4.5)
    meter.feed(msgspec.structs.replace(ready(cold_turns=0), past=past))
    own.feed(ready(cold_turns=0))
    assert meter.counters().accept_length == 97 / 40 and meter.turns == 0 and not meter.next_is_cold
    assert meter.ready_s == 0.5 and meter.stages() == ()
    for event in answer.events:
        meter.feed(event)
        own.feed(event)
    both, mine = meter.counters(), own.counters()
    assert both.tokens == 100 + mine.tokens and both.verify_steps == 40 + mine.verify_steps
    assert both.accepted_drafts == 57 + mine.accepted_drafts and meter.turns == own.turns


@given(st.lists(streams(), min_size=1, max_size=4))
def test_counters_are_the_sum_over_the_answers(answers: list[Stream]) -> None:
    session = SessionMeter(begun=0.0)
    session.feed(ready())
    numbers = []
    for answer in answers:
        meter = AnswerMeter(answer.submitted)
        for event in answer.events:
            session.feed(event)
            meter.feed(event)
        numbers.append(meter.numbers())
    counters = session.counters()
    assert counters.tokens == sum(item.tokens for item in numbers)
    assert counters.verify_steps == sum(item.verify_steps or 0 for item in numbers)
    assert counters.accepted_drafts == sum(item.accepted_drafts or 0 for item in numbers)
    known = [item.proposed_drafts for item in numbers if item.proposed_drafts is not None]
    assert counters.proposed_drafts == (sum(known) if known else None)


def test_accept_length_leaves_out_what_each_prefill_gave() -> None:
    session = SessionMeter(begun=0.0)
    for name in "ab":
        session.feed(Started(id=name, time=0.0))
        usage = Usage(prompt_tokens=5, cached_tokens=0, completion_tokens=9, verify_steps=4, accepted_drafts=4)
        session.feed(Done(id=name, finish="stop", usage=usage, time=1.0))
    assert session.counters().accept_length == pytest.approx(16 / 8)


def test_context_used_is_the_last_turns() -> None:
    session = SessionMeter(begun=0.0)
    session.feed(Started(id="a", time=0.0))
    session.feed(Delta(id="a", tokens=3, time=1.0, prompt_tokens=20))
    assert session.context_used == 23
    usage = Usage(prompt_tokens=20, cached_tokens=0, completion_tokens=7)
    session.feed(Done(id="a", finish="stop", usage=usage, time=2.0))
    assert session.context_used == 27
    session.feed(Started(id="b", time=3.0))
    session.feed(Delta(id="b", tokens=1, time=4.0))
    session.feed(Delta(id="b", tokens=0, prompt_tokens=900, reading=0.5, time=3.0))
    assert session.context_used == 27, "a prompt that is being read holds nothing yet"
    session.feed(Done(id="b", finish="abort", usage=Usage(prompt_tokens=900, cached_tokens=0, completion_tokens=0),
                      time=4.0))  # fmt: skip
    assert session.context_used == 27, "an engine that does not tell the prompt early leaves the last figure"


def test_a_failed_answer_keeps_what_it_counted() -> None:
    session = SessionMeter(begun=0.0)
    session.feed(Started(id="a", time=0.0))
    session.feed(Delta(id="a", tokens=5, verify_steps=2, accepted_drafts=2, draft_length=3, time=1.0))
    session.feed(Failed(id="a", code="died", what="Gone.", time=2.0))
    counters = session.counters()
    assert (counters.tokens, counters.verify_steps, counters.draft_length) == (5, 2, 3)
