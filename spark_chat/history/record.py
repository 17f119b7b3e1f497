"""What the journal writes, each within a transaction of its caller's and right however often it is repeated."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

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
    connection: sqlite3.Connection,
    conversation: str,
    id: str,
    text: str,
    parent: str | None,
    now: float,
    edits: str | None = None,
) -> None:
    """A prompt that waits to be sent. Without a `parent` it follows whatever was answered last when its own answer
    begins; '' settles that nothing comes before it. The draft that it was goes away with it. With `edits` it is
    another version of that prompt, and the way that the person sees ends at it."""
    connection.execute(
        "INSERT INTO messages (conversation, id, parent, role, text, state, created, edits) "
        "VALUES (?, ?, ?, 'user', ?, 'queued', ?, ?) "
        "ON CONFLICT (conversation, id) DO UPDATE SET text = excluded.text",
        (conversation, id, parent, stored(text), now, edits),
    )
    if edits is not None:
        connection.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (id, conversation))
    connection.execute(
        "UPDATE conversations SET title = ? WHERE id = ? AND title IS NULL", (stored(title_of(text)), conversation)
    )
    connection.execute("DELETE FROM drafts WHERE conversation = ? AND text = ?", (conversation, stored(text)))


def answer(
    connection: sqlite3.Connection,
    conversation: str,
    id: str,
    parent: str | None,
    now: float,
    after: str | None = None,
    leaf: bool = True,
) -> None:
    """An answer to `parent` begins. A prompt that waited in the queue now follows `after`, or, where that is None,
    what was answered meanwhile. `leaf`: it is on the way that the person sees, which ends at it now."""
    last = _leaf(connection, conversation)
    if parent is None:
        parent = last
    connection.execute(
        "UPDATE messages SET state = 'done', parent = coalesce(?, parent, ?) "
        "WHERE conversation = ? AND id = ? AND state = 'queued'",
        (after, last, conversation, parent),
    )
    connection.execute(
        "INSERT INTO messages (conversation, id, parent, role, state, created) "
        "VALUES (?, ?, ?, 'assistant', 'partial', ?) "
        "ON CONFLICT DO NOTHING",
        (conversation, id, parent, now),
    )
    if leaf:
        connection.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (id, conversation))


def go_on(connection: sqlite3.Connection, conversation: str, id: str, base: tuple[int, int]) -> None:
    """An answer that had ended goes on behind its first `base` characters (of text, of reasoning)."""
    for text, reasoning in connection.execute(
        "SELECT text, reasoning FROM messages WHERE conversation = ? AND id = ?", (conversation, id)
    ).fetchall():
        connection.execute(
            "UPDATE messages SET state = 'partial', text = ?, reasoning = ? WHERE conversation = ? AND id = ?",
            (stored(loaded(text)[: base[0]]), stored(loaded(reasoning)[: base[1]]), conversation, id),
        )


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


def recast(connection: sqlite3.Connection, conversation: str, id: str, last: int) -> None:
    """The text in the answer's pieces up to the `last`th was reasoning; they have none of their own."""
    connection.execute(
        "UPDATE pieces SET reasoning = text, text = '' "
        "WHERE conversation = ? AND message = ? AND n <= ? AND text != ''",
        (conversation, id, last),
    )


def finish(
    connection: sqlite3.Connection,
    conversation: str,
    id: str,
    state: State,
    numbers: str,
    settings: str,
    base: tuple[int | None, int | None] = (None, None),
) -> None:
    """The message ended: its pieces are joined to its first `base` characters, of text and of reasoning (None: all).
    `numbers` and `settings` are JSON."""
    rows = connection.execute(
        "SELECT text, reasoning FROM pieces WHERE conversation = ? AND message = ? ORDER BY n", (conversation, id)
    ).fetchall()
    if rows:
        before = connection.execute(
            "SELECT text, reasoning FROM messages WHERE conversation = ? AND id = ?", (conversation, id)
        ).fetchone() or ("", "")
        texts = [loaded(whole)[:size] for whole, size in zip(before, base, strict=True)]
        connection.execute(
            "UPDATE messages SET text = ?, reasoning = ? WHERE conversation = ? AND id = ?",
            (
                stored(texts[0] + "".join(loaded(text) for text, _ in rows)),
                stored(texts[1] + "".join(loaded(reasoning) for _, reasoning in rows)),
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


def draft_of(
    connection: sqlite3.Connection, id: str, touch: Callable[[], None], text: str, now: float, moved_from: str
) -> None:
    """The draft of the conversation `id`, which `touch` has in use; an empty one makes none. The conversation that it
    was found in, `moved_from`, keeps it no longer, and goes where it had nothing else."""
    if text or exists(connection, id):
        touch()
        draft(connection, id, text, now)
    if moved_from:
        connection.execute("DELETE FROM drafts WHERE conversation = ?", (moved_from,))
        connection.execute(
            "DELETE FROM conversations WHERE id = ? AND NOT EXISTS (SELECT 1 FROM messages WHERE conversation = ?)",
            (moved_from, moved_from),
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
