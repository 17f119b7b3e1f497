"""A file that is damaged, of another program, or out of reach: set aside or waited for, and nothing is lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from spark_chat.history.journal import Journal, new_id
from spark_chat.history.store import Store
from tests.history.talked import WAIT_S, talked


@pytest.mark.parametrize(
    "content",
    [b"this is no database" * 100, b"short", b"SQLite format 3\x00" + b"\xff" * 5000],
    ids=["text", "short", "only a header"],
)
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "history.sqlite3"
    path.write_bytes(content)
    said: list[str] = []
    journal = talked(path, said)
    assert journal.prompts().result(WAIT_S) == ["hello"]
    journal.close()
    (aside,) = tmp_path.glob("history.sqlite3.damaged-*")
    assert aside.read_bytes() == content
    assert len(said) == 1
    assert str(aside) in said[0]


def test_damage_deep_inside_is_found_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    journal = Journal(path)
    for _ in range(200):
        journal.prompt(journal.begin(), new_id(), "words " * 200)
    journal.prompts().result(WAIT_S)
    journal.close()
    with sqlite3.connect(path) as connection:  # as if the last run had been killed
        connection.execute("UPDATE runs SET closed = NULL")
    connection.close()
    data = bytearray(path.read_bytes())
    data[8192:40960] = b"\xa5" * (40960 - 8192)
    path.write_bytes(data)
    said: list[str] = []
    journal = talked(path, said)
    assert journal.prompts().result(WAIT_S) == ["hello"]
    journal.close()
    assert len(said) == 1
    assert "was set aside as" in said[0]


def test_damage_while_the_chat_runs_loses_no_word_of_what_comes(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    said: list[str] = []
    journal = talked(path, said)
    assert journal.keeps
    talk = journal.begin()

    def ruin(opened: Store) -> None:
        """By another process: closing the file here would drop the journal's own locks."""
        opened.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        subprocess.run([sys.executable, "-c", RUIN, path], check=True)
        opened.rows("PRAGMA shrink_memory")

    ask(journal, ruin)
    assert journal.prompt(talk, new_id(), "after").result(WAIT_S) is True
    assert journal.prompts().result(WAIT_S) == ["after"]
    journal.close()
    assert [sentence for sentence in said if "was set aside as" in sentence] == said


RUIN = r"""
import pathlib, sys
path = pathlib.Path(sys.argv[1])
with path.open("r+b") as file:
    file.seek(4096)
    file.write(b"\xa5" * (path.stat().st_size - 4096))
"""


def ask(journal: Journal, work: Callable[[Store], None]) -> None:
    """Has the journal's own thread do something to its file."""
    from spark_chat.history.writer import Entry

    future: Future[None] = Future()
    writer = journal._writer
    assert writer is not None
    writer.put(Entry(ask=work, waiting=future), 0.0)
    future.result(WAIT_S)


def test_a_read_that_fails_does_not_end_the_keeping(tmp_path: Path) -> None:
    said: list[str] = []
    journal = talked(tmp_path / "history.sqlite3", said)

    def broken(opened: Store) -> None:
        raise ValueError("what a file may hold")

    ask(journal, broken)
    assert "could not be read" in said[0]
    assert journal.prompt(journal.begin(), new_id(), "after").result(WAIT_S) is True
    journal.close()


def test_a_database_of_another_program_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    connection.close()
    opened = Store.open(path)
    assert "of another program" in opened.notes[0]
    opened.close()
    assert len(list(tmp_path.glob("*.damaged-*"))) == 1


def test_a_folder_that_cannot_be_made_is_a_sentence_and_the_chat_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said: list[str] = []
    journal = talked(tmp_path / "file" / "history.sqlite3", said)
    assert journal.latest().result(WAIT_S) is None
    assert len(said) == 1
    assert "this chat is not kept" in said[0]
    assert "--no-history" in said[0]
    assert journal.close() is False
    assert "could not be kept" in said[-1]


def test_what_the_disk_refused_is_kept_in_memory_and_written_later(tmp_path: Path) -> None:
    block = tmp_path / "data"
    block.touch()
    said: list[str] = []
    journal = Journal(block / "history.sqlite3", said.append)
    talk, prompt, answer = journal.begin(), new_id(), new_id()
    assert journal.prompt(talk, prompt, "hello").result(WAIT_S) is False
    journal.answer_started(talk, answer, prompt).result(WAIT_S)
    journal.append(answer, "one ")
    block.unlink()
    journal.append(answer, "two")
    assert journal.finish(answer, "done").result(WAIT_S) is True
    found = journal.load(talk).result(WAIT_S)
    assert found is not None
    assert [message.text for message in found.messages] == ["hello", "one two"]
    assert said[-1] == "The history is being kept again."
    assert len(said) == 2
    journal.close()
