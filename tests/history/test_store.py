"""The file: private, of the right schema, left alone when newer, brought on by migrations."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from spark_chat.history import record, resume, schema, store
from spark_chat.history.journal import Journal, new_id
from spark_chat.history.store import HistoryProblem, Store, sentence_for
from tests.history.talked import WAIT_S, talked


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_person_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    path = folder / "history.sqlite3"
    path.touch(mode=0o644)
    journal = talked(path)
    assert mode(folder) == 0o700
    assert {file.name: mode(file) for file in folder.iterdir()} == {
        "history.sqlite3": 0o600,
        "history.sqlite3-wal": 0o600,
        "history.sqlite3-shm": 0o600,
        "history.sqlite3.lock": 0o600,
    }
    journal.close()


def test_it_is_in_wal_mode_and_knows_its_schema(tmp_path: Path) -> None:
    opened = Store.open(tmp_path / "h")
    assert opened.rows("PRAGMA journal_mode") == [("wal",)]
    assert opened.rows("PRAGMA synchronous") == [(1,)]
    assert opened.rows("PRAGMA user_version") == [(schema.SCHEMA,)]
    assert opened.rows("PRAGMA application_id") == [(schema.APPLICATION_ID,)]
    assert opened.integrity() == "ok"
    opened.close()


def test_a_newer_file_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    talked(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before, touched = path.read_bytes(), path.stat().st_mtime_ns
    said: list[str] = []
    journal = Journal(path, said.append)
    assert journal.prompt(journal.begin(), new_id(), "hello").result(WAIT_S) is False
    journal.close()
    assert len(said) == 1
    assert f"schema 99; this one knows {schema.SCHEMA}" in said[0]
    assert str(path) in said[0]
    assert not journal.keeps
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, touched)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["history.sqlite3", "history.sqlite3.lock"]


def test_a_newer_schema_that_still_stands_in_the_log_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    Store.open(path).close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    with pytest.raises(HistoryProblem, match="schema 99"):
        Store.open(path)
    other.close()


def test_every_migration_is_run_once_from_any_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    talked(path).close()
    more = (*schema.MIGRATIONS, ("ALTER TABLE conversations ADD COLUMN colour TEXT", "CREATE TABLE extra (x)"))
    monkeypatch.setattr(store, "MIGRATIONS", more)
    monkeypatch.setattr(store, "SCHEMA", len(more))
    for first in (True, False):
        opened = Store.open(path)
        assert opened.rows("PRAGMA user_version") == [(len(more),)]
        assert opened.rows("SELECT colour FROM conversations") == [(None,)]
        assert bool(opened.notes) is first
        opened.close()
    (kept,) = tmp_path.glob("*.backup")
    assert kept.name == f"history.sqlite3.schema-{len(schema.MIGRATIONS)}.backup" and kept.stat().st_mode & 0o077 == 0
    with sqlite3.connect(kept) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
        assert old.execute("SELECT text FROM messages").fetchall() == [("hello",), ("hi",)]
    old.close()
    fresh = Store.open(tmp_path / "fresh")
    assert fresh.rows("SELECT count(*) FROM extra") == [(0,)]
    fresh.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    talked(path).close()
    more = (*schema.MIGRATIONS, ("CREATE TABLE extra (x)", "INSERT INTO nowhere VALUES (1)"))
    monkeypatch.setattr(store, "MIGRATIONS", more)
    monkeypatch.setattr(store, "SCHEMA", len(more))
    with pytest.raises(HistoryProblem, match="nowhere"):
        Store.open(path)
    monkeypatch.undo()
    opened = Store.open(path)
    assert opened.rows("SELECT text FROM messages") == [("hello",), ("hi",)]
    opened.close()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (sqlite3.SQLITE_FULL, "The disk is full"),
        (sqlite3.SQLITE_READONLY, "read-only"),
        (sqlite3.SQLITE_READONLY | (4 << 8), "read-only"),
        (sqlite3.SQLITE_BUSY, "locked"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_IOERR, "cannot be used"),
    ],
)
def test_errors_of_sqlite_become_sentences(code: int, says: str) -> None:
    error = sqlite3.OperationalError("raw words")
    error.sqlite_errorcode = code
    sentence = str(sentence_for(error, Path("/x/history.sqlite3")))
    assert says in sentence
    assert "/x/history.sqlite3" in sentence


def test_a_start_does_not_read_what_is_stored(tmp_path: Path) -> None:
    """With 10,000 messages the questions of a start are answered from indexes, without looking at all messages."""
    path = tmp_path / "history.sqlite3"
    opened = Store.open(path)
    with opened.transaction() as connection:
        for n in range(250):
            record.conversation(connection, f"talk {n}", "run", float(n), "{}")
            for turn in range(20):
                record.prompt(connection, f"talk {n}", f"p{turn}", "prompt " * 10, None, 0.0)
                record.answer(connection, f"talk {n}", f"a{turn}", f"p{turn}", 0.0)
                record.piece(connection, f"talk {n}", f"a{turn}", 0, "an answer of some words " * 10, "", 0.0)
                record.finish(connection, f"talk {n}", f"a{turn}", "done", "{}", "{}")
    assert opened.rows("SELECT count(*) FROM messages") == [(10_000,)]
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    opened.connection.set_progress_handler(count, 100)
    offer = resume.latest(opened)
    resume.prompts(opened, 200)
    assert offer is not None
    assert offer.messages == 40
    assert steps * 100 < 20_000
    opened.close()


def test_a_pipe_in_the_file_s_place_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    os.mkfifo(path)
    with pytest.raises(HistoryProblem, match="no regular file"):
        Store.open(path)
    assert path.is_fifo()


def test_a_process_that_was_stopped_while_it_opened_the_file_holds_nobody_up_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BUSY_MS", 50)
    path = tmp_path / "history.sqlite3"
    Store.open(path).close()
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(HistoryProblem, match="locked; it is tried again") as problem:
        Store.open(path)
    assert not problem.value.lasting
    os.close(descriptor)
    Store.open(path).close()
