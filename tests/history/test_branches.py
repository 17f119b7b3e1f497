"""Versions on disk: kill -9 in the middle of a branch loses none of them, and continuing never doubles a text."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spark_chat.chat.restoring import restored
from spark_chat.history.journal import Journal
from spark_chat.history.shelf import Shelf
from spark_chat.history.store import Store

WAIT_S = 60


@pytest.mark.parametrize("seed", range(3))
def test_a_kill_in_the_middle_of_a_branch_loses_no_version(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "history.sqlite3"
    command = [sys.executable, "-m", "tests.history.branch_process", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(random.Random(seed).randrange(20, 120))]
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    process.wait(WAIT_S)
    process.stdout.close()
    done = [json.loads(line) for line in said if line.endswith("\n")]
    store = Store.open(path)
    assert (store.notes, store.integrity()) == ([], "ok")
    store.rows("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    store.close()
    journal = Journal(path)
    talk = done[0]["talk"]
    kept = journal.resume(talk).result(WAIT_S)
    assert kept is not None
    messages = {message.id: message for message in kept.all}
    for line in done:
        if line["what"] != "step":
            assert messages[line["answer"]].text == line["whole"] and messages[line["answer"]].parent == line["prompt"]
            assert not line["text"] or messages[line["prompt"]].text == line["text"]
    back = restored(kept)
    assert {item.answer_id for item in back.all if item.began} >= {line["answer"] for line in done if "answer" in line}
    path_texts = [str(item.answer) for item in back if item.began]
    way = {message.id for message in kept.messages}
    assert [messages[item.answer_id].text for item in back if item.answer_id in way] == path_texts
    journal.close()


def test_writing_the_end_of_a_continuation_again_does_not_double_it(tmp_path: Path) -> None:
    """What the disk refused is written again, all of it: the parts are right however often they come."""
    from spark_chat.history import record

    store = Store.open(tmp_path / "h")
    with store.transaction() as connection:
        record.run(connection, "run", 1, 0.0, 0.0)
        record.conversation(connection, "c", "run", 0.0, "{}")
        record.prompt(connection, "c", "p", "count", "", 0.0)
        record.answer(connection, "c", "a", "p", 0.0)
        record.piece(connection, "c", "a", 0, "one, \ud83d", "t", 0.0)
        record.finish(connection, "c", "a", "stopped", "{}", "{}", (0, 0))
    for _ in range(3):
        with store.transaction() as connection:
            record.go_on(connection, "c", "a", (6, 1))
            record.piece(connection, "c", "a", 0, "two", "u", 0.0)
            record.finish(connection, "c", "a", "done", "{}", "{}", (6, 1))
        with store.transaction() as connection:
            record.piece(connection, "c", "a", 0, "two", "u", 0.0)
            record.finish(connection, "c", "a", "done", "{}", "{}", (6, 1))
    (message,) = [found for found in journal_of(store, tmp_path) if found.id == "a"]
    assert (message.text, message.reasoning, message.state) == ("one, \ud83dtwo", "tu", "done")


def journal_of(store: Store, folder: Path) -> list:  # type: ignore[type-arg]
    store.close()
    journal = Journal(folder / "h")
    kept = journal.load("c").result(WAIT_S)
    journal.close()
    assert kept is not None
    return list(kept.all)


def test_a_fork_is_a_copy_that_lives_without_the_old_one(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "h")
    shelf, talk = Shelf(journal), journal.begin()
    for n in range(2):
        journal.prompt(talk, f"p{n}", f"prompt {n}", f"a{n - 1}" if n else "")
        journal.answer_started(talk, f"a{n}", f"p{n}", f"a{n - 1}" if n else "")
        journal.append(f"a{n}", f"answer {n}", "thought")
        journal.finish(f"a{n}", "done", {"tokens": n})
    shelf.fork(talk, "new", "a fork", [("p0", "np"), ("a0", "na")])
    shelf.delete(talk)
    kept = journal.load("new").result(WAIT_S)
    page = shelf.page(0, 10).result(WAIT_S)
    assert kept is not None and page is not None
    assert [(message.id, message.text, message.reasoning) for message in kept.messages] == [
        ("np", "prompt 0", ""), ("na", "answer 0", "thought"),
    ]  # fmt: skip
    assert [(row.title, row.conversation) for row in page.rows] == [("a fork", "new")]
    journal.close()
