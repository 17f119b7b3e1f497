"""The history file: opened safely, brought to this program's schema, and written in transactions.

A file from a newer program is refused by name and left as it is; an older one is copied first. A damaged one
is set aside beside itself and a new one begun. A `Store` is for one thread, and there is one a file in a process:
closing a second one would drop the first one's locks (POSIX locks belong to the process). Nothing is read from the
file until asked for.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from spark_chat import locations, ordinary
from spark_chat.history import backup, unspaced
from spark_chat.history.schema import APPLICATION_ID, MIGRATIONS, SCHEMA

BUSY_MS = 5_000
"""How long to wait for another process that is writing, in ms."""

_HEADER = b"SQLite format 3\x00"


class HistoryProblem(Exception):
    """A sentence on what is wrong with the history file and what to do. `lasting`: no use to try again."""

    def __init__(self, sentence: str, *, lasting: bool = False) -> None:
        super().__init__(sentence)
        self.lasting = lasting


class Damaged(HistoryProblem):
    """The file is not, or no longer, a database."""


def stored(text: str) -> str | bytes:
    """What goes into a text column: the text itself, or its bytes where UTF-8 has no form for it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def loaded(value: str | bytes | None) -> str:
    """The text that `stored` was given."""
    if isinstance(value, bytes):
        return _decoded(value)
    return value if isinstance(value, str) else "" if value is None else str(value)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def sentence_for(error: Exception, path: Path) -> HistoryProblem:
    """What an error of sqlite or of the system means for a person."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    number = error.errno if isinstance(error, OSError) else None
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Damaged(f"The history file {path} is damaged ({error}).")
    if primary == sqlite3.SQLITE_FULL or number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return HistoryProblem(
            f"The disk is full, so this chat is not kept in {path}. Free some space; it is tried again."
        )
    if primary == sqlite3.SQLITE_READONLY or number == errno.EROFS:
        return HistoryProblem(
            f"The history file {path} cannot be written (read-only), so this chat is not kept. "
            "Make it writable, or start with --no-history."
        )
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return _locked(path)
    return HistoryProblem(
        f"The history file {path} cannot be used ({error}), so this chat is not kept. "
        "Check the folder and its permissions, or start with --no-history."
    )


def _locked(path: Path) -> HistoryProblem:
    return HistoryProblem(f"Another program keeps the history file {path} locked; it is tried again.")


class Store:
    """One open history file. `notes`: sentences on what opening it had to do."""

    def __init__(self, path: Path, connection: sqlite3.Connection, notes: list[str]) -> None:
        self.path, self.connection, self.notes = path, connection, notes

    @classmethod
    def open(cls, path: Path) -> Store:
        """The store at `path`, made where there is none. Raises HistoryProblem."""
        notes: list[str] = []
        try:
            _private_folder(path.parent)
            with _one_at_a_time(path):
                try:
                    return cls(path, _connected(path, notes), notes)
                except Damaged as problem:
                    aside = _set_aside(path)
                    notes.append(f"{problem} It was set aside as {aside}, and a new history was begun.")
                    return cls(path, _connected(path, notes), notes)
        except (OSError, sqlite3.Error) as error:
            raise sentence_for(error, path) from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Raises HistoryProblem for errors of sqlite and the system."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self.connection.execute("ROLLBACK")
                raise
        except (OSError, sqlite3.OperationalError, sqlite3.DatabaseError) as error:
            if isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.DataError)):
                raise
            raise sentence_for(error, self.path) from error

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a query gives. Raises HistoryProblem."""
        try:
            return self.connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise sentence_for(error, self.path) from error

    def integrity(self) -> str:
        """ "ok", or what sqlite's integrity_check says first."""
        return str(self.rows("PRAGMA integrity_check(1)")[0][0])

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self.connection.close()


def _private_folder(folder: Path) -> None:
    locations.made(folder)
    if folder.stat().st_mode & 0o077:
        with suppress(PermissionError):
            folder.chmod(0o700)


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Only one process opens, migrates or sets aside at a time; the lock goes with its holder, however it dies. One
    that was stopped and holds it is waited for as long as one that writes. Raises HistoryProblem."""
    import fcntl

    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path.with_name(path.name + ".lock"), flags, 0o600)
    deadline = time.monotonic() + BUSY_MS / 1000
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise _locked(path) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def _private_file(path: Path) -> None:
    """Made before sqlite opens it: sqlite gives -wal and -shm the mode that it finds here."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    for name in (path, *_companions(path)):
        with suppress(FileNotFoundError, PermissionError):
            if name.stat().st_mode & 0o077:
                name.chmod(0o600)


def _companions(path: Path) -> tuple[Path, Path]:
    return path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")


def _look_at_header(path: Path) -> None:
    """Refuses what is foreign or newer before sqlite touches it."""
    try:
        ordinary.check(path, path)
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return
    if not header:
        return
    if len(header) < 100 or not header.startswith(_HEADER):
        raise Damaged(f"The history file {path} is damaged (not a database).")
    _check_version(path, int.from_bytes(header[60:64], "big", signed=True))


def _check_version(path: Path, version: int) -> None:
    if version > SCHEMA:
        raise HistoryProblem(
            f"The history file {path} is from a newer spark-chat (schema {version}; this one knows {SCHEMA}), so it is "
            "left as it is and this chat is not kept. Update spark-chat, or start with --no-history.",
            lasting=True,
        )


def _connected(path: Path, notes: list[str]) -> sqlite3.Connection:
    _look_at_header(path)
    _private_file(path)
    connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None)
    try:
        connection.text_factory = _decoded
        _check_version(path, connection.execute("PRAGMA user_version").fetchone()[0])
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = ON")  # else no trigger may call a function of ours
        connection.create_function(unspaced.FUNCTION, 1, unspaced.indexed, deterministic=True)
        _keep_a_copy(path, connection, notes)
        _migrate(path, connection)
        _check_after_kill(path, connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise sentence_for(error, path) from error
        raise
    return connection


def _keep_a_copy(path: Path, connection: sqlite3.Connection, notes: list[str]) -> None:
    """Before an older file is brought forward; an empty one needs none."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if 0 < version < SCHEMA:
        kept = backup.keep(path, connection, version)
        notes.append(f"The history was brought from schema {version} to {SCHEMA}; as it was it is kept in {kept}.")


def _migrate(path: Path, connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise Damaged(f"The history file {path} is a database of another program.")
        for migration in MIGRATIONS[version:]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _check_after_kill(path: Path, connection: sqlite3.Connection) -> None:
    """After a run that was killed the whole file is looked through, once; after a clean one it need not be."""
    if connection.execute("SELECT 1 FROM runs WHERE closed IS NULL AND checked = 0 LIMIT 1").fetchone() is None:
        return
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise Damaged(f"The history file {path} is damaged ({found}).")
    connection.execute("UPDATE runs SET checked = 1 WHERE closed IS NULL")


def _set_aside(path: Path) -> Path:
    """Renames the file and what belongs to it; nothing is deleted."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside, n = path.with_name(f"{path.name}.damaged-{stamp}"), 1
    while aside.exists():
        aside, n = path.with_name(f"{path.name}.damaged-{stamp}-{n}"), n + 1
    for old, new in zip((path, *_companions(path)), (aside, *_companions(aside)), strict=True):
        with suppress(FileNotFoundError):
            old.rename(new)
    return aside
