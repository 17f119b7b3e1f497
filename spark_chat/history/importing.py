"""Conversations of a document into the history file: all of it or nothing.

What is there already stays as it is, so importing twice is importing once. Where the id of a conversation is taken by
another one, or by one that differs, it comes in as a copy of its own; the copy's ids are made from what is in it, so
that the copy too is made once.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from spark_chat.history import checking, document
from spark_chat.history.store import Store, loaded

TEXT = {"text", "reasoning", "title", "numbers", "settings", "role", "state"}
"""Columns that never name a message."""


class BadDocument(Exception):
    """Why it can't be imported, in a sentence."""


@dataclass
class Imported:
    """What came of it, by title."""

    new: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    """Those that came in under another id."""
    there: list[str] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    """Columns and tables that this program does not know."""

    @property
    def sentence(self) -> str:
        """For a person."""
        came = len(self.new) + len(self.copies)
        parts = [f"{came} conversation{'' if came == 1 else 's'} imported"]
        if self.copies:
            parts.append(f"{len(self.copies)} of them as a copy, since another version is kept under the same id")
        if self.there:
            parts.append(f"{len(self.there)} {'was' if len(self.there) == 1 else 'were'} there already")
        text = ", ".join(parts) + "."
        if self.left_out:
            text += f" Left out, since only a newer spark-chat knows it: {', '.join(sorted(self.left_out))}."
        return text


def parse(text: str) -> list[dict[str, Any]]:
    """The conversations in a file's text. Raises BadDocument."""
    try:
        tree = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        why = (
            f"in line {error.lineno}: {error.msg}"
            if isinstance(error, json.JSONDecodeError)
            else "too deep, or too long"
        )
        raise BadDocument(f"It is no valid JSON ({why}).") from None
    if not isinstance(tree, dict) or tree.get("format") != document.FORMAT:
        raise BadDocument(f'It is not of this format: there is no "format": "{document.FORMAT}" in it.')
    version = tree.get("version")
    if not isinstance(version, int) or not 1 <= version <= document.VERSION:
        raise BadDocument(
            f"It is of version {str(version)[:20]}, and this spark-chat reads up to {document.VERSION}. Update it."
        )
    found = tree.get("conversations")
    if not isinstance(found, list):
        raise BadDocument('"conversations" is no list.')
    for number, item in enumerate(found, 1):
        _check(item, number)
    return found


def _check(item: Any, number: int) -> None:
    where = f"Conversation {number}"
    if not isinstance(item, dict) or not isinstance(item.get("conversation"), dict):
        raise BadDocument(f'{where} has no "conversation".')
    if not isinstance(item.get("messages"), list):
        raise BadDocument(f'{where} has no list "messages".')
    for table, rows in item.items():
        if table == "conversation":
            continue
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise BadDocument(f"{where}: {table[:40]} is no list of rows.")
    for row in (item["conversation"], *item["messages"]):
        if not isinstance(row.get("id"), str) or not row["id"]:
            raise BadDocument(f"{where}: a row has no id.")
    for row in item["messages"]:
        if not isinstance(row.get("text", ""), str):
            raise BadDocument(f"{where}: a message's text is no text.")


def take_in(store: Store, items: list[dict[str, Any]]) -> Imported:
    """Import `items`, as `parse` gives them. Raises BadDocument, HistoryProblem."""
    done = Imported()
    with store.transaction() as connection:
        for number, item in enumerate(items, 1):
            try:
                _take(connection, item, done)
            except (sqlite3.Error, ValueError, OverflowError, RecursionError) as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                raise BadDocument(f"Conversation {number} can't be taken in ({error}). Nothing was imported.") from None
    return done


def _take(connection: sqlite3.Connection, item: dict[str, Any], done: Imported) -> None:
    id = item["conversation"]["id"]
    title = str(item["conversation"].get("title") or "")
    kept = _kept(connection, id)
    if kept is None:
        _insert(connection, item, done)
        done.new.append(title)
    elif _holds(kept, item):
        connection.execute("UPDATE conversations SET deleted_at = NULL WHERE id = ?", (id,))
        done.there.append(title)
    else:
        copy = _renamed(item)
        if _kept(connection, copy["conversation"]["id"]) is None:
            _insert(connection, copy, done)
            done.copies.append(title)
        else:
            done.there.append(title)


def _kept(connection: sqlite3.Connection, id: str) -> dict[str, str] | None:
    """Text by id of the messages that are kept; None where there is no such conversation."""
    if connection.execute("SELECT 1 FROM conversations WHERE id = ?", (id,)).fetchone() is None:
        return None
    rows = connection.execute("SELECT id, text FROM messages WHERE conversation = ?", (id,)).fetchall()
    return {message: loaded(text) for message, text in rows}


def _holds(kept: dict[str, str], item: dict[str, Any]) -> bool:
    """Whether each message of `item` is kept, at least as long as it is there."""
    return all(
        row["id"] in kept and (kept[row["id"]].startswith(row.get("text", "")) or item.get("cleaned"))
        for row in item["messages"]
    )


def _renamed(item: dict[str, Any]) -> dict[str, Any]:
    """The same under ids of its own."""
    content = json.dumps(item, sort_keys=True).encode()
    home = hashlib.sha256(content).hexdigest()[:32]
    ids = {row["id"] for row in item["messages"]}

    def other(id: str) -> str:
        base, dot, rest = id.partition(".")
        return hashlib.sha256(f"{home} {base}".encode("utf-8", "surrogatepass")).hexdigest()[:32] + dot + rest

    def moved(row: dict[str, Any]) -> dict[str, Any]:
        return {
            name: other(value) if name not in TEXT and isinstance(value, str) and value in ids else value
            for name, value in row.items()
        }

    renamed: dict[str, Any] = {"conversation": moved(item["conversation"]) | {"id": home}}
    for table, rows in item.items():
        if table != "conversation":
            renamed[table] = [moved(row) for row in rows] if isinstance(rows, list) else rows
    return renamed


def _insert(connection: sqlite3.Connection, item: dict[str, Any], done: Imported) -> None:
    home = item["conversation"]["id"]
    put = _putter(connection, done)
    put("conversations", item["conversation"], None)
    known = document.tables(connection)
    for table in item:
        if table not in ("conversation", "cleaned") and table not in known:
            done.left_out.add(table[:40])
    for table in known:
        for row in item.get(table, ()):
            put(table, row, home)


def _putter(connection: sqlite3.Connection, done: Imported) -> Callable[[str, dict[str, Any], str | None], None]:
    known: dict[str, dict[str, str]] = {}

    def put(table: str, row: dict[str, Any], home: str | None) -> None:
        if table not in known:
            known[table] = document.kinds(connection, table)
        names = [name for name in row if name in known[table] and (table, name) not in checking.NOT_TAKEN]
        for name in names:
            if found := checking.trouble(table, name, known[table][name], row[name]):
                raise ValueError(found)
        done.left_out.update(f"{table}.{name[:40]}" for name in row if name not in known[table])
        values = [document.column(row[name]) for name in names]
        if home is not None:
            names, values = [*names, "conversation"], [*values, home]
        marks = ", ".join("?" * len(names))
        connection.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", values)

    return put
