"""A conversation as plain data: every row of every table that belongs to it, whatever columns the schema has.

`{"conversation": {column: value}, "messages": [{column: value}, ...], "<another table>": [...]}`. Left out is what
means something in this file alone: row numbers, and the run that wrote last. Columns that hold JSON become JSON, where
writing it again gives the same text; bytes become `{"base64": "..."}`.
"""

from __future__ import annotations

import base64
import json
import math
import sqlite3
from collections.abc import Iterator
from typing import Any

from spark_chat.history.store import Store, loaded, stored

FORMAT = "spark-chat conversations"
VERSION = 1
"""Of the document; a reader refuses a higher one."""
LOCAL = {"seq", "run", "conversation"}
"""Columns that mean something in one file alone, or that the document's own shape says."""
NOT_OURS = {"runs"}

Rows = list[dict[str, Any]]


def tables(connection: sqlite3.Connection) -> list[str]:
    """The tables with rows that belong to a conversation, messages first: others may refer to them."""
    found = [
        name
        for _, name, kind, *_ in connection.execute("PRAGMA main.table_list").fetchall()
        if kind == "table" and name not in NOT_OURS and "conversation" in _all_columns(connection, name)
    ]
    return sorted(found, key=lambda name: (name != "messages", name))


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Those that go into a document, in the table's order."""
    return [name for name in _all_columns(connection, table) if name not in LOCAL]


def kinds(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """Column -> declared type, of those that go into a document."""
    rows = connection.execute(f"PRAGMA main.table_info({table})")
    return {row[1]: str(row[2]).upper() for row in rows if row[1] not in LOCAL}


def _all_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]


def listed(store: Store) -> list[str]:
    """Ids of all conversations that are not deleted, oldest first."""
    rows = store.rows("SELECT id FROM conversations WHERE deleted_at IS NULL ORDER BY created, id")
    return [id for (id,) in rows]


def document(store: Store, conversation: str) -> dict[str, Any] | None:
    """All of one conversation; None where there is none of that id. Raises HistoryProblem."""
    names = columns(store.connection, "conversations")
    found = store.rows(f"SELECT {', '.join(names)} FROM conversations WHERE id = ?", conversation)
    if not found:
        return None
    result: dict[str, Any] = {"conversation": _row(names, found[0])}
    for table in tables(store.connection):
        names = columns(store.connection, table)
        order = "seq" if "seq" in _all_columns(store.connection, table) else ", ".join(names)
        query = f"SELECT {', '.join(names)} FROM {table} WHERE conversation = ? ORDER BY {order}"
        rows = [_row(names, row) for row in store.rows(query, conversation)]
        if rows or table == "messages":
            result[table] = rows
    return result


def whole(store: Store, conversations: list[str]) -> Iterator[str]:
    """The text of a file with these conversations, a piece at a time; ASCII only, so that no terminal obeys it."""
    from spark_chat import __version__

    head = {"format": FORMAT, "version": VERSION, "written_by": f"spark-chat {__version__}"}
    yield json.dumps(head, indent=1)[:-2] + ',\n "conversations": ['
    separator = "\n"
    for id in conversations:
        found = document(store, id)
        if found is not None:
            yield separator + json.dumps(found, indent=1, allow_nan=False)
            separator = ",\n"
    yield "\n ]\n}\n"


def _row(names: list[str], values: tuple[Any, ...]) -> dict[str, Any]:
    return {name: plain(name, value) for name, value in zip(names, values, strict=True)}


def plain(column: str, value: Any) -> Any:
    """A column's value as JSON has it."""
    if isinstance(value, bytes):
        text = loaded(value)
        if stored(text) == value:
            return text
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, str) and value[:1] in "{[" and column not in ("text", "reasoning", "title"):
        try:
            parsed = json.loads(value, parse_constant=_no_constant)
            if isinstance(parsed, dict | list) and json.dumps(parsed) == value and "base64" not in parsed:
                return parsed
        except (ValueError, RecursionError):
            pass
    return value


def column(value: Any) -> str | bytes | int | float | None:
    """The value for the table that `plain` was given. Raises ValueError for what no column holds."""
    if isinstance(value, dict) and list(value) == ["base64"]:
        return base64.b64decode(value["base64"], validate=True)
    if isinstance(value, dict | list):
        return json.dumps(value, allow_nan=False)
    if isinstance(value, str):
        return stored(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise ValueError(f"{type(value).__name__} is no value of a column")


def _no_constant(name: str) -> Any:
    raise ValueError(name)
