"""What rows may come in from outside: values as the schema's columns hold them, and no two rows of one name.

sqlite keeps whatever it is given, also text where a number belongs; who reads it back relies on the kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_chat.moment import local

MOMENTS = {"created", "updated", "shown"}
"""Columns of Unix seconds."""
NOT_TAKEN = {("conversations", "deleted_at")}
"""What comes in is there; that it was deleted where it comes from means nothing here."""
NAMES = {"id", "parent", "edits", "leaf", "message"}
"""Columns of ids: compared as they are, so they are text."""
_WHOLE = 1 << 63


def trouble(table: str, column: str, kind: str, value: Any) -> str | None:
    """Why `value`, as the document has it, is none for this column of the declared `kind`; None where it is."""
    if value is None:
        return None  # the schema says where something must be
    if column in MOMENTS:
        return None if local(value) is not None else f"{table}.{column} is no moment in Unix seconds"
    if kind == "TEXT":
        if isinstance(value, str):
            return f"{table}.{column} is no text of UTF-8" if column in NAMES and _odd(value) else None
        if isinstance(value, Mapping) and list(value) == ["base64"]:
            good = isinstance(value["base64"], str) and column not in NAMES
            return None if good else f"{table}.{column} is no base64"
        holds_json = column in ("numbers", "settings", "place")
        if holds_json and isinstance(value, dict | list):
            return None
        return f"{table}.{column} is no text"
    if kind not in ("INTEGER", "REAL"):
        return None
    whole = isinstance(value, int) and -_WHOLE <= value < _WHOLE
    if whole or (kind == "REAL" and isinstance(value, float)):
        return None
    return f"{table}.{column} is no {'whole number' if kind == 'INTEGER' else 'number'}"


def _odd(name: str) -> bool:
    """Whether it holds what UTF-8 cannot carry, or no name has."""
    return "\0" in name or any("\ud800" <= char <= "\udfff" for char in name)
