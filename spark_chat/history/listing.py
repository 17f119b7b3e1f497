"""The list of conversations, a page at a time, and what is changed of one there. For the journal's thread."""

from __future__ import annotations

import sqlite3
from typing import Any

from spark_chat.history.message import Listed, Page
from spark_chat.history.record import title_of
from spark_chat.history.resume import runs
from spark_chat.history.store import Store, loaded, stored

KEPT_S = 7 * 24 * 3600.0
"""Seconds that a deleted conversation stays in the file, marked, before it is taken out."""

COLUMNS = "c.id, c.title, c.updated, c.pinned, c.run, r.pid, r.process_started, r.closed"
JOINED = "conversations c LEFT JOIN runs r ON r.id = c.run"
IN_LIST = "c.deleted_at IS NULL AND c.title IS NOT NULL"


class Holders:
    """Which conversations another chat has open now. `run`: who asks."""

    def __init__(self, run: str) -> None:
        self._held: dict[str | None, bool] = {run: False, None: False}

    def listed(self, row: tuple[Any, ...]) -> Listed:
        """From a row of `COLUMNS`."""
        id, title, updated, pinned, run, pid, started, closed = row
        if run not in self._held:
            self._held[run] = pid is not None and closed is None and runs(pid, started)
        return Listed(id, loaded(title), updated, bool(pinned), self._held[run])


def page(store: Store, run: str, first: int, count: int) -> Page:
    """`count` conversations from number `first` on: those that something was asked in, pinned ones first, then used
    last first."""
    (total,) = store.rows(f"SELECT count(*) FROM conversations c WHERE {IN_LIST}")[0]
    holders = Holders(run)
    rows = store.rows(
        f"SELECT {COLUMNS} FROM {JOINED} WHERE {IN_LIST} ORDER BY c.pinned DESC, c.updated DESC LIMIT ? OFFSET ?",
        count, first,
    )  # fmt: skip
    return Page(tuple(holders.listed(row) for row in rows), first, total)


def rename(connection: sqlite3.Connection, conversation: str, title: str) -> None:
    """Give it a title; a blank one brings back the one that its first prompt gives."""
    title = " ".join(title.split())
    if not title:
        found = connection.execute(
            "SELECT text FROM messages WHERE conversation = ? AND role = 'user' ORDER BY seq LIMIT 1", (conversation,)
        ).fetchone()
        title = title_of(loaded(found[0])) if found else ""
    connection.execute("UPDATE conversations SET title = ? WHERE id = ?", (stored(title), conversation))


def pin(connection: sqlite3.Connection, conversation: str, pinned: bool) -> None:
    connection.execute("UPDATE conversations SET pinned = ? WHERE id = ?", (int(pinned), conversation))


def delete(connection: sqlite3.Connection, conversation: str, at: float | None) -> None:
    """Mark it deleted `at` that moment, or, with None, bring it back."""
    connection.execute("UPDATE conversations SET deleted_at = ? WHERE id = ?", (at, conversation))


def purge(connection: sqlite3.Connection, now: float) -> int:
    """Take out what was deleted longer than `KEPT_S` ago, with all that belongs to it. How many went."""
    return connection.execute("DELETE FROM conversations WHERE deleted_at < ?", (now - KEPT_S,)).rowcount


def place(connection: sqlite3.Connection, conversation: str, where: str) -> None:
    """Where the person had scrolled to, as JSON; "" for the end."""
    connection.execute("UPDATE conversations SET place = ? WHERE id = ?", (where, conversation))


def settings(connection: sqlite3.Connection, conversation: str, values: str) -> None:
    """The conversation's own settings, as JSON."""
    connection.execute("UPDATE conversations SET settings = ? WHERE id = ?", (values, conversation))


def show(connection: sqlite3.Connection, conversation: str, leaf: str, chosen: str, now: float) -> None:
    """The person stepped to another version, `chosen`: the way on screen ends at `leaf` now."""
    connection.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (leaf, conversation))
    connection.execute("UPDATE messages SET shown = ? WHERE conversation = ? AND id = ?", (now, conversation, chosen))


def fork(connection: sqlite3.Connection, conversation: str, new: str, title: str, ids: list[tuple[str, str]]) -> None:
    """Copy the messages of `ids` (old, new), each following the one before, into the conversation `new`, which is
    there already. A copy of an answer that is still coming has what came so far, and has ended."""
    connection.execute(
        "UPDATE conversations SET title = ?, leaf = ?, settings = "
        "(SELECT settings FROM conversations WHERE id = ?) WHERE id = ?",
        (stored(title), ids[-1][1], conversation, new),
    )
    parent = ""
    for old, id in ids:
        connection.execute(
            "INSERT INTO messages (conversation, id, parent, role, text, reasoning, state, numbers, settings, created) "
            "SELECT ?, ?, ?, role, text, reasoning, replace(state, 'partial', 'stopped'), numbers, settings, created "
            "FROM messages WHERE conversation = ? AND id = ? ON CONFLICT DO NOTHING",
            (new, id, parent, conversation, old),
        )
        parent = id
