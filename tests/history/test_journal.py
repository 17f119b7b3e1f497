"""What a chat says is on disk, in order and byte for byte, and read back."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_chat.history.journal import Journal, new_id

WAIT_S = 20
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


def test_a_turn_comes_back_as_it_was(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "h" / "history.sqlite3")
    talk = journal.begin({"engine": "llama.cpp"})
    prompt, answer = new_id(), new_id()
    assert journal.prompt(talk, prompt, "Why?\r\n\x00\x1b[2J\ud83d").result(WAIT_S) is True
    journal.answer_started(talk, answer, prompt)
    for n in range(1000):
        journal.append(answer, f"{n} ", "r")
    assert journal.finish(answer, "done", {"tokens": 1000}, {"top_k": 1}).result(WAIT_S) is True
    found = journal.load(talk).result(WAIT_S)
    assert found is not None
    asked, answered = found.messages
    assert (asked.role, asked.text, asked.state, asked.parent) == ("user", "Why?\r\n\x00\x1b[2J\ud83d", "done", None)
    assert answered.text == "".join(f"{n} " for n in range(1000))
    assert answered.reasoning == "r" * 1000
    assert (answered.state, answered.parent, answered.numbers) == ("done", prompt, {"tokens": 1000})
    assert (found.settings, found.title, answered.settings) == ({"engine": "llama.cpp"}, "Why?", {"top_k": 1})
    assert journal.close()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prompt=ANY_TEXT, pieces=st.lists(st.tuples(ANY_TEXT, ANY_TEXT)), draft=ANY_TEXT)
def test_any_text_is_kept_raw(tmp_path: Path, prompt: str, pieces: list[tuple[str, str]], draft: str) -> None:
    journal = Journal(tmp_path / "history.sqlite3")
    talk, asked, answer = journal.begin(), new_id(), new_id()
    journal.prompt(talk, asked, prompt)
    journal.answer_started(talk, answer, asked)
    for text, reasoning in pieces:
        journal.append(answer, text, reasoning)
    journal.draft(talk, draft)
    streaming = journal.load(talk).result(WAIT_S)
    journal.finish(answer, "done")
    ended = journal.load(talk).result(WAIT_S)
    assert journal.close()
    assert streaming is not None and ended is not None
    for found in (streaming, ended):
        assert found.messages[0].text == prompt
        assert found.messages[1].text == "".join(text for text, _ in pieces)
        assert found.messages[1].reasoning == "".join(reasoning for _, reasoning in pieces)
        assert found.draft == draft


def test_text_that_turns_out_to_be_a_thought_is_kept_as_one(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "history.sqlite3")
    talk, asked, answer = journal.begin(), new_id(), new_id()
    journal.prompt(talk, asked, "Why?")
    journal.answer_started(talk, answer, asked)
    journal.append(answer, "h\ud83d")
    assert journal.load(talk).result(WAIT_S) is not None, "a piece by itself"
    journal.append(answer, "m\n")
    journal.recast(answer)
    journal.append(answer, "So.", "!")
    streaming = journal.load(talk).result(WAIT_S)
    journal.finish(answer, "done")
    ended = journal.load(talk).result(WAIT_S)
    assert journal.close() and streaming is not None and ended is not None
    for found in (streaming, ended):
        assert (found.messages[1].text, found.messages[1].reasoning) == ("So.", "h\ud83dm\n!")


def test_a_streaming_answer_can_be_read(tmp_path: Path) -> None:
    """A read sees everything that was said before it."""
    journal = Journal(tmp_path / "history.sqlite3")
    talk, asked, answer = journal.begin(), new_id(), new_id()
    journal.prompt(talk, asked, "Go")
    journal.answer_started(talk, answer, asked)
    journal.append(answer, "so far")
    kept = journal.load(talk).result(WAIT_S)
    assert kept is not None
    assert [(message.text, message.state) for message in kept.messages] == [("Go", "done"), ("so far", "partial")]
    journal.close()


def test_queued_prompts_follow_what_was_answered_while_they_waited(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "history.sqlite3")
    talk = journal.begin()
    one, two, three = new_id(), new_id(), new_id()
    for id in (one, two, three):
        journal.prompt(talk, id, f"prompt {id}")
    first, second = new_id(), new_id()
    journal.answer_started(talk, first, one)
    journal.finish(first, "done")
    journal.answer_started(talk, second, two)
    found = journal.load(talk).result(WAIT_S)
    assert found is not None
    assert [message.id for message in found.messages] == [one, first, two, second, three]
    assert found.messages[2].parent == first
    assert found.messages[-1].state == "queued"
    journal.finish(three, "failed", conversation=talk)
    found = journal.load(talk).result(WAIT_S)
    assert found is not None
    assert [message.id for message in found.messages] == [one, first, two, second, three]
    journal.finish(three, "stopped", conversation=talk)
    found = journal.load(talk).result(WAIT_S)
    assert found is not None
    assert [message.id for message in found.messages] == [one, first, two, second]
    journal.close()


def test_an_explicit_parent_makes_a_branch(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "history.sqlite3")
    talk = journal.begin()
    root, first, other, redone = new_id(), new_id(), new_id(), new_id()
    journal.prompt(talk, root, "one")
    journal.answer_started(talk, first, root)
    journal.finish(first, "done")
    journal.answer_started(talk, redone, root)
    journal.finish(redone, "done")
    journal.prompt(talk, other, "from the first answer", parent=first)
    last = new_id()
    journal.answer_started(talk, last, other)
    found = journal.load(talk).result(WAIT_S)
    assert found is not None
    assert [message.id for message in found.messages] == [root, first, other, last]
    journal.close()


def test_sending_the_draft_takes_it_away_and_another_draft_stays(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "history.sqlite3")
    talk = journal.begin()
    journal.draft(talk, "hel")
    journal.draft(talk, "hello")
    assert journal.load(talk).result(WAIT_S).draft == "hello"  # type: ignore[union-attr]
    journal.prompt(talk, new_id(), "hello")
    assert journal.load(talk).result(WAIT_S).draft == ""  # type: ignore[union-attr]
    journal.draft(talk, "the next one")
    journal.prompt(talk, new_id(), "from the queue")
    assert journal.load(talk).result(WAIT_S).draft == "the next one"  # type: ignore[union-attr]
    journal.draft(talk, "")
    assert journal.load(talk).result(WAIT_S).draft == ""  # type: ignore[union-attr]
    journal.close()


def test_nothing_said_leaves_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "folder" / "history.sqlite3")
    journal.begin()
    journal.draft(journal.begin(), "")
    assert journal.latest().result(WAIT_S) is None
    journal.close()
    silent = Journal(tmp_path / "other" / "history.sqlite3")
    silent.begin()
    assert silent.close()
    assert not (tmp_path / "other").exists()


def test_without_history_the_calls_are_the_same_and_nothing_is_written(tmp_path: Path) -> None:
    journal = Journal(None)
    talk, asked, answer = journal.begin({"a": 1}), new_id(), new_id()
    assert journal.prompt(talk, asked, "secret").result(0) is False
    assert journal.answer_started(talk, answer, asked).result(0) is False
    journal.append(answer, "secret")
    journal.draft(talk, "secret")
    assert journal.finish(answer, "done").result(0) is False
    assert journal.latest().result(0) is None
    assert journal.load(talk).result(0) is None
    assert journal.resume(talk).result(0) is None
    assert journal.prompts().result(0) is None
    assert not journal.keeps
    assert journal.close()
    assert list(tmp_path.iterdir()) == []


def test_prompts_of_all_conversations_are_recalled_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "history.sqlite3")
    for n in range(5):
        journal.prompt(journal.begin(), new_id(), f"prompt {n}")
    assert journal.prompts(3).result(WAIT_S) == ["prompt 2", "prompt 3", "prompt 4"]
    journal.close()


async def test_committed_waits_without_blocking_the_loop(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "history.sqlite3")
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    assert await journal.committed(journal.prompt(journal.begin(), new_id(), "x" * 10_000_000)) is True
    ticking.cancel()
    assert ticks > 1
    journal.close()


def test_after_close_calls_are_harmless(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "history.sqlite3")
    talk, asked, answer = journal.begin(), new_id(), new_id()
    journal.prompt(talk, asked, "x")
    journal.answer_started(talk, answer, asked)
    assert journal.close()
    journal.append(answer, "late")
    journal.draft(talk, "late")
    assert journal.prompt(talk, new_id(), "late").result(0) is False
    assert journal.load(talk).result(0) is None
    assert journal.close()
