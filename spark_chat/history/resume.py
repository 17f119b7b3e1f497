"""What a start can go on with, and conversations read back. Each function is for the journal's thread."""

from __future__ import annotations

import json
from typing import Any

from spark_chat.history.message import Conversation, Message, Offer
from spark_chat.history.store import Store, loaded
from spark_chat.moment import seconds

_CANDIDATES = 50
"""Conversations looked at, newest first: those before them may all belong to chats that are open right now."""

_UNANSWERED = ("queued", "failed")
"""States of a prompt that no answer follows, and that its person would miss; one taken back is "stopped"."""


def latest(store: Store) -> Offer | None:
    """The conversation used last that no running chat holds, with what a kill left of it; None where there is none.
    One that has nothing but a draft is passed over for one that something was asked in, and its draft goes along."""
    drafted: Offer | None = None
    alive: dict[str | None, bool] = {}
    for id, title, updated, run, pid, started, closed in store.rows(
        "SELECT c.id, c.title, c.updated, c.run, r.pid, r.process_started, r.closed FROM conversations c "
        "LEFT JOIN runs r ON r.id = c.run WHERE c.deleted_at IS NULL ORDER BY c.updated DESC LIMIT ?",
        _CANDIDATES,
    ):
        if run not in alive:
            alive[run] = pid is not None and closed is None and runs(pid, started)
        if alive[run]:
            continue
        states = dict(store.rows("SELECT state, count(*) FROM messages WHERE conversation = ? GROUP BY state", id))
        draft = _draft(store, id)
        if not states and (drafted or not draft):
            continue
        found = Offer(
            conversation=id,
            title=loaded(title),
            updated=updated,
            messages=sum(states.values()),
            killed=pid is not None and closed is None,
            partial="partial" in states,
            queued=states.get("queued", 0),
            draft=drafted.draft if drafted else draft,
            draft_in=drafted.conversation if drafted else id,
        )
        if states:
            return found
        drafted = found
    return drafted


def load(store: Store, conversation: str) -> Conversation | None:
    """A conversation as its person saw it; None where there is none of that id."""
    found = store.rows(
        "SELECT title, created, updated, leaf, settings, place FROM conversations WHERE id = ? AND deleted_at IS NULL",
        conversation,
    )
    if not found:
        return None
    title, created, updated, leaf, settings, place = found[0]
    messages = _messages(store, conversation)
    way: list[Message] = []
    at = messages.get(leaf)
    while at is not None and len(way) <= len(messages):
        way.append(at)
        at = messages.get(at.parent)
    seen = {message.id for message in way}
    versions = {message.edits for message in messages.values()}
    unanswered = (
        message
        for message in messages.values()
        if message.state in _UNANSWERED and message.edits is None and message.id not in seen | versions
        and (not message.parent or message.parent in seen)
    )  # fmt: skip
    return Conversation(
        id=conversation,
        title=loaded(title),
        created=seconds(created),
        updated=seconds(updated),
        messages=(*reversed(way), *(message for message in unanswered if message.role == "user")),
        draft=_draft(store, conversation),
        settings=_parsed(settings),
        all=tuple(messages.values()),
        place=_parsed(place),
    )


def prompts(store: Store, limit: int) -> list[str]:
    """The last prompts of all conversations, oldest first."""
    rows = store.rows(
        "SELECT text FROM messages WHERE role = 'user' AND conversation NOT IN "
        "(SELECT id FROM conversations WHERE deleted_at IS NOT NULL) ORDER BY seq DESC LIMIT ?",
        limit,
    )
    return [loaded(text) for (text,) in reversed(rows)]


def _messages(store: Store, conversation: str) -> dict[str | None, Message]:
    pieces: dict[str, list[tuple[str, str]]] = {}
    for id, text, reasoning in store.rows(
        "SELECT message, text, reasoning FROM pieces WHERE conversation = ? ORDER BY message, n", conversation
    ):
        pieces.setdefault(id, []).append((loaded(text), loaded(reasoning)))
    messages: dict[str | None, Message] = {}
    for id, parent, role, text, reasoning, state, numbers, settings, created, edits, shown in store.rows(
        "SELECT id, parent, role, text, reasoning, state, numbers, settings, created, edits, shown FROM messages "
        "WHERE conversation = ? ORDER BY seq",
        conversation,
    ):
        kept = pieces.get(id, [])
        messages[id] = Message(
            id=id,
            parent=_name(parent),
            role=role,
            text=loaded(text) + "".join(piece for piece, _ in kept),
            reasoning=loaded(reasoning) + "".join(piece for _, piece in kept),
            state=state,
            numbers=_parsed(numbers),
            settings=_parsed(settings),
            created=seconds(created),
            edits=_name(edits),
            shown=None if shown is None else seconds(shown),
        )
    return messages


def _draft(store: Store, conversation: str) -> str:
    rows = store.rows("SELECT text FROM drafts WHERE conversation = ?", conversation)
    return loaded(rows[0][0]) if rows else ""


def _name(value: Any) -> str | None:
    """An id that a message refers to."""
    return None if value is None else loaded(value)


def _parsed(text: Any) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def runs(pid: int, started: float) -> bool:
    """Whether the process that wrote is still there; a reused number is told by its start time."""
    import psutil

    try:
        return abs(float(psutil.Process(pid).create_time()) - started) < 2.0
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
