"""Versions of prompts and answers: whatever is edited, asked again, stepped to and forked, nothing is ever lost, the
model gets just what is on the way, and what is read back from disk is what was on screen."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from spark_chat.chat.conversation import Conversation, Exchange, Stage
from spark_chat.chat.keeping import Keeping
from spark_chat.chat.restoring import restored
from spark_chat.chat.session import Session
from spark_chat.chat.versions import Versions
from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece, Snapshot
from spark_chat.engine.protocol import Opening, Ready, Turn
from spark_chat.history.journal import Journal
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings

WAIT_S = 20
READY = Ready(engine="llama.cpp", version="1", model="m", context=1000, proofs={}, time=0.0)


class Engine:
    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str], Opening | None]] = []
        self.aborted: list[str | None] = []

    def ask(self, id: str, messages: list[Turn], settings: Settings, *, opening: Opening | None = None) -> None:
        self.asked.append((id, [turn.content for turn in messages], opening))

    def abort(self, id: str | None = None) -> None:
        self.aborted.append(id)


class View:
    """Knows only what it is told."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def changed(self, snapshot: Snapshot) -> None: ...

    def asked(self, exchange: Exchange) -> None:
        self.shown.append(exchange.id)

    def staged(self, exchange: Exchange) -> None:
        assert exchange.id in self.shown

    def piece(self, exchange: Exchange, text: str, reasoning: str, numbers: AnswerNumbers) -> None:
        assert exchange.id in self.shown

    def ended(self, exchange: Exchange) -> None:
        assert exchange.id in self.shown

    def turned(self, conversation: Conversation, place: int) -> None:
        self.shown[place:] = [item.id for item in conversation.exchanges[place:]]

    def overflowed(self, overflow: object) -> None: ...


def parts(item: Exchange) -> int:
    """Parts of an answer that are over: one that waits to be continued has put its figures with the earlier ones
    already, on the disk they are still its own."""
    running = item.stage is Stage.ANSWERING
    return len(item.earlier) + (item.numbers is not None and not running)


def told(conversation: Conversation) -> list[tuple[object, ...]]:
    """What is on screen, in words."""
    return [
        (
            item.prompt, str(item.answer), str(item.reasoning), parts(item),
            conversation.prompts(item).index(item.prompt_id), len(conversation.prompts(item)),
            conversation.answers(item).index(item), len(conversation.answers(item)),
        )
        for item in conversation.exchanges if item.began
    ]  # fmt: skip


class Sitting(RuleBasedStateMachine):
    """A person, an engine that answers when the test says so, and a journal on a disk."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.journal = Journal(Path(self.folder.name) / "history.sqlite3")
        self.view, self.engine = View(), Engine()
        self.session = Session(self.view, Settings(), clock=lambda: 0.0)
        self.session.keep(Keeping(self.journal, self.session.conversation))
        self.session.attach(self.engine)
        self.words = 0
        self.ended = 0
        self.ever: set[tuple[str, str]] = set()
        """(prompt, answer) of all that ever ended."""

    def teardown(self) -> None:
        self.journal.close(WAIT_S)
        self.folder.cleanup()

    def word(self, kind: str) -> str:
        self.words += 1
        return f"{kind}{self.words}"

    @property
    def conversation(self) -> Conversation:
        return self.session.conversation

    @property
    def versions(self) -> Versions:
        return self.session.versions

    def running(self) -> str | None:
        return self.engine.asked[-1][0] if len(self.engine.asked) > self.ended else None

    def pick(self, number: int) -> Exchange:
        return self.conversation.exchanges[number % len(self.conversation)]

    # ------------------------------------------------------------------ the person

    @rule()
    def send(self) -> None:
        self.session.send(self.word("prompt"))

    @precondition(lambda self: len(self.conversation))
    @rule(number=st.integers(0, 20))
    def edit(self, number: int) -> None:
        self.versions.edit(self.pick(number), self.word("edited"))

    @precondition(lambda self: len(self.conversation))
    @rule(number=st.integers(0, 20))
    def again(self, number: int) -> None:
        self.versions.again(self.pick(number))

    @precondition(lambda self: len(self.conversation))
    @rule(number=st.integers(0, 20), by=st.sampled_from([-1, 1]), answers=st.booleans())
    def step(self, number: int, by: int, answers: bool) -> None:
        before = self.pick(number)
        found = self.versions.step(before, by, answers=answers)
        if found is not None:
            assert self.conversation.shows(found) and found.parent == before.parent
            assert (found.prompt_id == before.prompt_id) is answers

    @precondition(lambda self: len(self.conversation))
    @rule()
    def go_on(self) -> None:
        last = self.conversation.exchanges[-1]
        before, said = last.continued, self.versions.go_on(last)
        assert last.continued == before + (not said) and (said or last.going_on)

    @rule()
    def stop(self) -> None:
        self.session.stop()

    # ------------------------------------------------------------------ the engine

    def begin(self) -> str | None:
        id = self.running()
        if id is not None:
            self.session.update(Changed(Snapshot(phase=Phase.READY, ready=READY, answering=id)))
        return id

    @precondition(lambda self: self.running())
    @rule()
    def piece(self) -> None:
        id = self.begin()
        assert id is not None
        self.session.update(Piece(id, self.word(" word"), self.word("thought"), AnswerNumbers(tokens=1)))

    @precondition(lambda self: self.running())
    @rule(finish=st.sampled_from(["stop", "length", "abort"]))
    def end(self, finish: str) -> None:
        id = self.begin()
        assert id is not None
        exchange = self.conversation.find(id)
        finish = "abort" if id in self.engine.aborted else finish
        self.ended = len(self.engine.asked)
        self.session.update(Answered(id, AnswerNumbers(tokens=self.words, finish=finish)))
        if exchange is not None and exchange.began:
            self.ever.add((exchange.prompt, str(exchange.answer)))

    # ------------------------------------------------------------------ what always holds

    @invariant()
    def the_view_shows_what_is_on_the_way(self) -> None:
        assert self.view.shown == [item.id for item in self.conversation]

    @invariant()
    def nothing_is_lost(self) -> None:
        kept = {(item.prompt, str(item.answer)) for item in self.conversation.all}
        longer = {prompt: [text for other, text in kept if other == prompt] for prompt, _ in self.ever}
        assert all(any(text.startswith(answer) for text in longer[prompt]) for prompt, answer in self.ever)

    @invariant()
    def the_model_gets_what_is_on_the_way(self) -> None:
        if self.running() is None:
            return
        id, messages, _ = self.engine.asked[-1]
        exchange = self.conversation.find(id)
        if exchange is None:
            return
        path = self.conversation.path_to(exchange)
        assert messages[-1] == exchange.prompt and path[-1] is exchange
        assert messages[:-1:2] == [item.prompt for item in path[:-1] if str(item.answer).strip()]

    @rule()
    def what_is_read_back_is_what_was_on_screen(self) -> None:
        kept = self.journal.load(self.conversation.id).result(WAIT_S)
        if kept is None:
            assert not len(self.conversation)
            return
        back = restored(kept)
        if all(item.began for item in self.conversation.all):
            assert told(back) == told(self.conversation)
        elif all(item.owns_prompt and item.stage is not Stage.QUEUED for item in self.conversation):
            # prompts that nothing answered may stand elsewhere: what was answered does not
            assert [row[:4] for row in told(back)] == [row[:4] for row in told(self.conversation)]
        answers = {(item.prompt, str(item.answer)) for item in back.all if item.began}
        assert answers == {(item.prompt, str(item.answer)) for item in self.conversation.all if item.began}


Sitting.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
test_whatever_a_person_does_nothing_is_lost = Sitting.TestCase


def talk(*prompts: str) -> tuple[Session, Engine]:
    engine = Engine()
    session = Session(View(), Settings(), clock=lambda: 0.0)
    session.attach(engine)
    for text in prompts:
        answer(session, session.send(text), f"answer to {text}")
    return session, engine


def answer(session: Session, exchange: Exchange, text: str, finish: str = "stop") -> None:
    session.update(Changed(Snapshot(phase=Phase.READY, ready=READY, answering=exchange.asked_as)))
    session.update(Piece(exchange.asked_as, text, "", AnswerNumbers(tokens=1)))
    session.update(Answered(exchange.asked_as, AnswerNumbers(tokens=1, finish=finish)))


def test_stepping_back_finds_what_followed_last() -> None:
    session, _ = talk("one", "two")
    first = session.conversation.exchanges[0]
    other = session.versions.edit(first, "one, edited")
    answer(session, other, "x")
    answer(session, session.send("three"), "y")
    session.versions.step(session.conversation.exchanges[0], -1, answers=False)
    assert [item.prompt for item in session.conversation] == ["one", "two"]
    session.versions.step(session.conversation.exchanges[0], 1, answers=False)
    assert [item.prompt for item in session.conversation] == ["one, edited", "three"]


def test_a_stopped_continuation_keeps_what_there_was() -> None:
    session, engine = talk()
    exchange = session.send("count")
    answer(session, exchange, "one, ", "length")
    waits = session.send("next")
    answer(session, waits, "fine")
    assert "Only the last answer" in session.versions.go_on(exchange)
    session.versions.edit(waits, "other")  # and it runs, so that a continuation would have to wait
    assert session.versions.go_on(session.conversation.exchanges[-1]) != ""
    assert engine.asked[-1][2] is None and str(exchange.answer) == "one, "


def test_a_continuation_that_is_taken_back_is_as_it_was() -> None:
    session, engine = talk()
    exchange = session.send("count")
    answer(session, exchange, "one, ", "length")
    session.engine = None
    assert session.versions.go_on(exchange) == "" and exchange.stage is Stage.QUEUED
    assert session.stop()
    assert (exchange.stage, str(exchange.answer), exchange.earlier) == (Stage.DONE, "one, ", [])
    assert exchange.numbers is not None and exchange.numbers.finish == "length" and exchange.cut
    session.attach(engine)
    assert session.versions.go_on(exchange) == ""
    assert engine.asked[-1][2] == Opening(text="one, ", thought="")
    answer(session, exchange, "two")
    assert str(exchange.answer) == "one, two" and not exchange.cut


def test_old_reasoning_is_not_sent_back_but_that_of_the_answer_that_goes_on_is() -> None:
    session, engine = talk()
    first = session.send("one")
    session.update(Changed(Snapshot(phase=Phase.READY, ready=READY, answering=first.id)))
    session.update(Piece(first.id, "", "secret thought", AnswerNumbers(tokens=1)))
    session.update(Piece(first.id, "text", "", AnswerNumbers(tokens=2)))
    session.update(Answered(first.id, AnswerNumbers(tokens=2, finish="length")))
    session.versions.go_on(first)
    assert engine.asked[-1][1:] == (["one"], Opening(text="text", thought="secret thought"))
    session.update(Answered(first.asked_as, AnswerNumbers(tokens=0, finish="stop")))
    session.send("two")
    assert engine.asked[-1][1] == ["one", "text", "two"]


@pytest.mark.parametrize("prompts", [1, 2])
def test_a_version_that_nothing_answered_is_back_where_it_stood(prompts: int) -> None:
    sitting = Sitting()
    for _ in range(prompts):
        sitting.send()
    sitting.edit(number=prompts - 1)
    sitting.piece()
    sitting.step(answers=False, by=-1, number=prompts - 1)
    kept = sitting.journal.load(sitting.conversation.id).result(WAIT_S)
    assert kept is not None
    seen = [(item.prompt, str(item.answer)) for item in sitting.conversation]
    assert len(seen) == prompts and [(item.prompt, str(item.answer)) for item in restored(kept)] == seen
    sitting.teardown()
