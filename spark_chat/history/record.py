"""What the journal writes, each within a transaction of its caller's and right however often it is repeated."""

from __future__ import annotations

import sqlite3

from spark_chat.history.message import State
from spark_chat.history.store import loaded, stored

TITLE = 80
"""Longest title taken from a first prompt, in characters."""


def run(connection: sqlite3.Connection, id: str, pid: int, process_started: float, now: float) -> None:
    """This process writes from now on."""
    connection.execute(
        "INSERT INTO runs (id, pid, process_started, opened) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (id, pid, process_started, now),
    )


def run_closed(connection: sqlite3.Connection, id: str, now: float) -> None:
    """This process ended by itself. Runs that no conversation names any more are forgotten."""
    connection.execute("UPDATE runs SET closed = ? WHERE id = ?", (now, id))
    connection.execute(
        "DELETE FROM runs WHERE (closed IS NOT NULL OR checked) "
        "AND id NOT IN (SELECT run FROM conversations WHERE run IS NOT NULL)"
    )


def conversation(connection: sqlite3.Connection, id: str, run: str, now: float, settings: str) -> None:
    """The conversation is there and was used now, by this run. `settings` is JSON."""
    connection.execute(
        "INSERT INTO conversations (id, created, updated, run, settings) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, run = excluded.run",
        (id, now, now, run, settings),
    )


def exists(connection: sqlite3.Connection, conversation: str) -> bool:
    return connection.execute("SELECT 1 FROM conversations WHERE id = ?", (conversation,)).fetchone() is not None


def title_of(text: str) -> str:
    """A title from a first prompt: its first line with anything in it, shortened."""
    line = next((line for line in text[:4000].splitlines() if line.strip()), "")
    title = " ".join(line.split())
    return title if len(title) <= TITLE else title[: TITLE - 1] + "…"


def prompt(
    connection: sqlite3.Connection, conversation: str, id: str, text: str, parent: str | None, now: float
) -> None:
    """A prompt that waits to be sent. Without a `parent` it follows whatever was answered last when its own answer
    begins. The draft that it was goes away with it."""
    connection.execute(
        "INSERT INTO messages (conversation, id, parent, role, text, state, created) "
        "VALUES (?, ?, ?, 'user', ?, 'queued', ?) "
        "ON CONFLICT (conversation, id) DO UPDATE SET text = excluded.text",
        (conversation, id, parent, stored(text), now),
    )
    connection.execute(
        "UPDATE conversations SET title = ? WHERE id = ? AND title IS NULL", (stored(title_of(text)), conversation)
    )
    connection.execute("DELETE FROM drafts WHERE conversation = ? AND text = ?", (conversation, stored(text)))


def answer(connection: sqlite3.Connection, conversation: str, id: str, parent: str | None, now: float) -> None:
    """An answer to `parent` begins. A prompt that waited in the queue now follows what was answered meanwhile."""
    leaf = _leaf(connection, conversation)
    if parent is None:
        parent = leaf
    connection.execute(
        "UPDATE messages SET state = 'done', parent = coalesce(parent, ?) "
        "WHERE conversation = ? AND id = ? AND state = 'queued'",
        (leaf, conversation, parent),
    )
    connection.execute(
        "INSERT INTO messages (conversation, id, parent, role, state, created) "
        "VALUES (?, ?, ?, 'assistant', 'partial', ?) "
        "ON CONFLICT DO NOTHING",
        (conversation, id, parent, now),
    )
    connection.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (id, conversation))


def piece(
    connection: sqlite3.Connection, conversation: str, id: str, n: int, text: str, reasoning: str, now: float
) -> None:
    """The `n`th piece of an answer. Written again it replaces itself."""
    if (
        connection.execute("SELECT 1 FROM messages WHERE conversation = ? AND id = ?", (conversation, id)).fetchone()
        is None
    ):
        answer(connection, conversation, id, None, now)
    connection.execute(
        "INSERT OR REPLACE INTO pieces (conversation, message, n, text, reasoning) VALUES (?, ?, ?, ?, ?)",
        (conversation, id, n, stored(text), stored(reasoning)),
    )


def finish(
    connection: sqlite3.Connection, conversation: str, id: str, state: State, numbers: str, settings: str
) -> None:
    """The message ended: its pieces are joined into it. `numbers` and `settings` are JSON."""
    rows = connection.execute(
        "SELECT text, reasoning FROM pieces WHERE conversation = ? AND message = ? ORDER BY n", (conversation, id)
    ).fetchall()
    if rows:
        connection.execute(
            "UPDATE messages SET text = ?, reasoning = ? WHERE conversation = ? AND id = ?",
            (
                stored("".join(loaded(text) for text, _ in rows)),
                stored("".join(loaded(reasoning) for _, reasoning in rows)),
                conversation,
                id,
            ),
        )
        connection.execute("DELETE FROM pieces WHERE conversation = ? AND message = ?", (conversation, id))
    connection.execute(
        "UPDATE messages SET state = ?, numbers = ?, settings = ? WHERE conversation = ? AND id = ?",
        (state, numbers, settings, conversation, id),
    )


def draft(connection: sqlite3.Connection, conversation: str, text: str, now: float) -> None:
    """What stands in the composer; empty text takes it away."""
    if not text:
        connection.execute("DELETE FROM drafts WHERE conversation = ?", (conversation,))
        return
    connection.execute(
        "INSERT INTO drafts (conversation, text, updated) VALUES (?, ?, ?) "
        "ON CONFLICT (conversation) DO UPDATE SET text = excluded.text, updated = excluded.updated",
        (conversation, stored(text), now),
    )


def _leaf(connection: sqlite3.Connection, conversation: str) -> str | None:
    row = connection.execute("SELECT leaf FROM conversations WHERE id = ?", (conversation,)).fetchone()
    return None if row is None else row[0]


def stop_partial(connection: sqlite3.Connection, conversation: str) -> None:
    """Answers that a kill cut off end here: what was kept of them is what there is."""
    for id, numbers, settings in connection.execute(
        "SELECT id, numbers, settings FROM messages WHERE conversation = ? AND state = 'partial'", (conversation,)
    ).fetchall():
        finish(connection, conversation, id, "stopped", numbers, settings)
