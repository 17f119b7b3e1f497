"""The order in which prompts get their turn, and what happens to them when something fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spark_chat.chat.conversation import Exchange, Stage
from spark_chat.chat.session import Overflow, Session
from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece, Snapshot
from spark_chat.engine.protocol import Failed, Opening, Ready, Turn
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings

READY = Ready(engine="llama.cpp", version="1", model="m", context=1000, proofs={}, time=0.0)


@dataclass
class Engine:
    asked: list[tuple[str, list[str]]] = field(default_factory=list)
    aborted: list[str | None] = field(default_factory=list)

    def ask(self, id: str, messages: list[Turn], settings: Settings, *, opening: Opening | None = None) -> None:
        assert opening is None
        self.asked.append((id, [turn.content for turn in messages]))

    def abort(self, id: str | None = None) -> None:
        self.aborted.append(id)


@dataclass
class View:
    told: list[tuple[str, Any]] = field(default_factory=list)

    def changed(self, snapshot: Snapshot) -> None:
        self.told.append(("changed", snapshot.phase))

    def asked(self, exchange: Exchange) -> None:
        self.told.append(("asked", exchange.id))

    def staged(self, exchange: Exchange) -> None:
        self.told.append(("staged", (exchange.id, exchange.stage)))

    def piece(self, exchange: Exchange, text: str, reasoning: str, numbers: AnswerNumbers) -> None:
        self.told.append(("piece", (exchange.id, text, reasoning)))

    def recast(self, exchange: Exchange) -> None:
        self.told.append(("recast", (str(exchange.answer), str(exchange.reasoning))))

    def ended(self, exchange: Exchange) -> None:
        self.told.append(("ended", (exchange.id, exchange.stage)))

    def overflowed(self, overflow: Overflow | None) -> None:
        self.told.append(("overflowed", overflow.excess if overflow else None))


class Sitting:
    def __init__(self) -> None:
        self.now = 0.0
        self.view, self.engine = View(), Engine()
        self.session = Session(self.view, Settings(), clock=lambda: self.now)

    def phase(self, phase: Phase, answering: str | None = None) -> None:
        self.session.update(Changed(Snapshot(phase=phase, ready=READY, answering=answering)))

    def answer(self, exchange: Exchange, text: str = "fine", finish: str = "stop") -> None:
        self.phase(Phase.READY, exchange.id)
        self.session.update(Piece(exchange.id, text, "", AnswerNumbers(tokens=1)))
        self.session.update(Answered(exchange.id, AnswerNumbers(tokens=1, finish=finish)))

    def fail(self, exchange: Exchange, code: str, **facts: int) -> None:
        failed = Failed(id=exchange.id, code=code, what="It failed.", facts=facts, time=0.0)  # type: ignore[arg-type]
        self.session.update(Answered(exchange.id, AnswerNumbers(finish="failed"), failed))


def test_what_is_typed_before_the_engine_is_asked_when_it_comes() -> None:
    sitting = Sitting()
    first = sitting.session.send("one")
    assert sitting.engine.asked == []
    sitting.session.attach(sitting.engine)
    assert sitting.engine.asked == [(first.id, ["one"])]


def test_prompts_wait_for_the_answer_before_them_and_take_it_along() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first, second = sitting.session.send("one"), sitting.session.send("two")
    assert [id for id, _ in sitting.engine.asked] == [first.id]
    assert second.stage is Stage.QUEUED
    sitting.now = 3.0
    sitting.answer(first, "1")
    assert sitting.engine.asked[1] == (second.id, ["one", "1", "two"])
    sitting.answer(second, "2")
    assert second.numbers is not None and second.numbers.waited_s == 3.0
    assert sitting.session.conversation.waiting == []


def test_stop_aborts_the_answer_and_keeps_what_came() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first = sitting.session.send("one")
    sitting.phase(Phase.READY, first.id)
    sitting.session.update(Piece(first.id, "half", "", AnswerNumbers(tokens=1)))
    assert sitting.session.stop()
    assert sitting.engine.aborted == [first.id]
    sitting.session.update(Answered(first.id, AnswerNumbers(tokens=1, finish="abort")))
    assert (first.stage, str(first.answer)) == (Stage.STOPPED, "half")


def test_text_that_turns_out_to_be_a_thought_goes_over_to_it() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first = sitting.session.send("one")
    sitting.phase(Phase.READY, first.id)
    sitting.session.update(Piece(first.id, "hm", "", AnswerNumbers(tokens=1)))
    sitting.session.update(Piece(first.id, "fine", " so", AnswerNumbers(tokens=3), was_thought=True))
    assert (str(first.answer), str(first.reasoning)) == ("fine", "hm so")
    assert [told for told in sitting.view.told if told[0] in ("piece", "recast")] == [
        ("piece", (first.id, "hm", "")), ("recast", ("", "hm")), ("piece", (first.id, "fine", " so")),
    ]  # fmt: skip


def test_stop_before_the_engine_is_up_takes_the_last_prompt_back() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first, second = sitting.session.send("one"), sitting.session.send("two")
    assert sitting.session.stop() and second.stage is Stage.STOPPED and first.stage is Stage.QUEUED
    assert sitting.session.stop() and first.stage is Stage.STOPPED
    assert not sitting.session.stop()


def test_a_prompt_that_the_engine_had_not_begun_when_it_died_waits_for_the_next_one() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first = sitting.session.send("one")
    sitting.phase(Phase.FAILED)
    sitting.fail(first, "died")
    assert first.stage is Stage.QUEUED and len(sitting.engine.asked) == 1
    sitting.phase(Phase.STARTING)
    assert [id for id, _ in sitting.engine.asked] == [first.id, first.id]


def test_a_prompt_that_the_engine_died_of_is_not_asked_again_by_itself() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first = sitting.session.send("one")
    sitting.phase(Phase.READY, first.id)
    sitting.session.update(Piece(first.id, "half", "", AnswerNumbers(tokens=1)))
    sitting.fail(first, "died")
    sitting.phase(Phase.STARTING)
    assert (first.stage, str(first.answer)) == (Stage.FAILED, "half")
    assert len(sitting.engine.asked) == 1


def test_overflow_offers_to_drop_and_asks_again() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first = sitting.session.send("a" * 400)
    sitting.answer(first, "b" * 400)
    second, third = sitting.session.send("c" * 400), sitting.session.send("later")
    sitting.phase(Phase.READY, second.id)
    sitting.fail(second, "overflow", prompt_tokens=1200, context=1000)
    assert ("overflowed", 200) in sitting.view.told
    assert len(sitting.engine.asked) == 2, "what waits behind an overflow waits for the person"
    assert sitting.session.drop_oldest() == 1
    assert sitting.engine.asked[2] == (second.id, ["c" * 400])
    assert third.stage is Stage.QUEUED and len(sitting.session.conversation) == 3


def test_an_engine_with_more_room_answers_what_was_too_long() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first = sitting.session.send("a" * 4000)
    sitting.phase(Phase.READY, first.id)
    sitting.fail(first, "overflow", prompt_tokens=1200, context=1000)
    larger = Ready(engine="llama.cpp", version="1", model="m", context=4096, proofs={}, time=0.0)
    sitting.session.update(Changed(Snapshot(phase=Phase.READY, ready=larger)))
    assert [id for id, _ in sitting.engine.asked] == [first.id, first.id]
    assert sitting.session.overflow is None


def test_a_prompt_that_alone_is_over_the_context_offers_no_turns_to_leave_out() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    sitting.answer(sitting.session.send("a" * 4000), "b" * 4000)
    second = sitting.session.send("c" * 400)
    sitting.phase(Phase.READY, second.id)
    sitting.fail(second, "overflow", prompt_tokens=1200, context=1000, at_least=True)
    overflow = sitting.session.overflow
    assert overflow is not None and (overflow.drop, overflow.least) == (0, "at least ")


def test_leaving_an_overflow_lets_the_queue_go_on() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    first, second = sitting.session.send("a" * 4000), sitting.session.send("short")
    sitting.phase(Phase.READY, first.id)
    sitting.fail(first, "overflow", prompt_tokens=1200, context=1000)
    assert sitting.session.overflow is not None and sitting.session.overflow.drop == 0
    sitting.session.let_be()
    assert sitting.engine.asked[-1] == (second.id, ["short"])


def test_a_new_conversation_sends_nothing_of_the_old_and_the_old_answer_ends_unseen() -> None:
    sitting = Sitting()
    sitting.session.attach(sitting.engine)
    old = sitting.session.send("old")
    sitting.phase(Phase.READY, old.id)
    sitting.session.update(Piece(old.id, "half", "", AnswerNumbers(tokens=1)))
    sitting.session.begin()
    assert sitting.engine.aborted == [old.id]
    new = sitting.session.send("new")
    assert sitting.engine.asked[-1] == (new.id, ["new"])
    told = len(sitting.view.told)
    sitting.session.update(Answered(old.id, AnswerNumbers(tokens=1, finish="abort")))
    assert old.stage is Stage.STOPPED and len(sitting.view.told) == told
