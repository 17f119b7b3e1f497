"""Checking a value against its setting, and reading one from text (a variable, the command line)."""

from __future__ import annotations

import math
import tomllib
from typing import Any

from spark_chat.settings import keys
from spark_chat.settings.problem import BadValue
from spark_chat.settings.schema import Row

ON = frozenset({"true", "on", "1", "yes"})
OFF = frozenset({"false", "off", "0", "no"})
_LARGEST = 2**63
_SHOWN = 60
_DEEPEST = 40


def allowed(row: Row, text: bool = False) -> str:
    """What `row` takes, in words. `text`: as written in a variable or on the command line."""
    if row.kind == "bool":
        return "true or false (on, off, 1, 0, yes, no will do)" if text else "true or false"
    if row.kind in ("int", "float", "int_or_choice"):
        words = "a whole number" if row.kind != "float" else "a number"
        if row.minimum is not None and row.maximum is not None:
            words += f" from {_plain(row.minimum)} to {_plain(row.maximum)}"
        words += "".join(f', or "{choice}"' for choice in row.choices)
        return words + (", or empty" if text and row.optional else "")
    if row.kind == "choice":
        return "one of " + ", ".join(f'"{choice}"' for choice in row.choices)
    if row.kind == "table":
        return "a table, such as { name = 1 }"
    if row.kind == "keys":
        return keys.ALLOWED
    return "text in quotes" if not text else "text"


def checked(row: Row, value: Any) -> Any:
    """`value` as `row` holds it (a whole number for a float setting becomes a float). Raises BadValue."""
    if value is None and row.optional:
        return None
    if row.kind == "bool":
        good = isinstance(value, bool)
    elif row.kind == "choice":
        good = isinstance(value, str) and value in row.choices
    elif row.kind == "str":
        good = isinstance(value, str)
        if good and "\0" in value:
            raise BadValue(f"{row.key} has a NUL character in it", "text without one")
    elif row.kind == "keys":
        good = isinstance(value, str)
        if good and (trouble := keys.wrong(value)):
            raise BadValue(f"{row.key} is {shown(value)}, {trouble}", allowed(row))
    elif row.kind == "table":
        good = isinstance(value, dict)
        if good:
            check_entry(tuple(row.key.split(".")), value)
    else:
        good = (row.kind == "int_or_choice" and isinstance(value, str) and value in row.choices) or _in_range(
            row, value
        )
        if good and row.kind == "float":
            value = float(value)
    if not good:
        raise BadValue(f"{row.key} is {shown(value)}", allowed(row))
    return value


def _in_range(row: Row, value: Any) -> bool:
    kinds = (int, float) if row.kind == "float" else (int,)
    if isinstance(value, bool) or not isinstance(value, kinds) or not -_LARGEST <= value < _LARGEST:
        return False
    low = -math.inf if row.minimum is None else row.minimum
    high = math.inf if row.maximum is None else row.maximum
    return low <= value <= high


def check_entry(path: tuple[str, ...], value: Any) -> None:
    """Raises BadValue where what stands at `path` in a table is more than JSON can carry to the engine."""
    key = ".".join(path)
    if len(path) > _DEEPEST:
        raise BadValue("it is nested too deep", f"at most {_DEEPEST} levels deep", path)
    if isinstance(value, dict):
        for name, item in value.items():
            check_entry((*path, name), item)
    elif isinstance(value, list):
        for item in value:
            check_entry(path, item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if not -_LARGEST <= value < _LARGEST:
            raise BadValue(f"{key} is {shown(value)}", "a finite number of at most 64 bits", path)
    elif not isinstance(value, bool | str):
        raise BadValue(f"{key} is {shown(value)}", "text, a number, true or false, a list or a table", path)


def read(row: Row, text: str) -> Any:
    """The value that `text` stands for. Raises BadValue."""
    word = text.strip()
    lowered = word.lower()
    try:
        value = _converted(row, text, word, lowered)
        return checked(row, value)
    except BadValue as bad:
        raise BadValue(
            bad.what, bad.allowed and allowed(row, text=True) if row.kind != "table" else bad.allowed
        ) from None


def _converted(row: Row, text: str, word: str, lowered: str) -> Any:
    if row.optional and lowered in ("", "none"):
        return None
    if row.kind == "bool":
        return True if lowered in ON else False if lowered in OFF else text
    if row.kind in ("int", "float", "int_or_choice"):
        if lowered in row.choices:
            return lowered
        try:
            if word.isascii() and "_" not in word:
                return int(word) if row.kind != "float" else float(word)
        except ValueError:
            pass
        return text
    if row.kind == "choice":
        return lowered
    if row.kind == "table":
        return _toml(text)
    return text


def read_entry(path: tuple[str, ...], text: str) -> Any:
    """The value of one entry of a table: TOML where it is TOML, else the text itself. Raises BadValue."""
    value = _toml(text)
    check_entry(path, value)
    return value


def _toml(text: str) -> Any:
    if "\n" in text or "\r" in text:
        return text
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return found["value"]


def literal(value: Any, depth: int = 0) -> str:
    """`value` as TOML has it, on one line, with nothing in it that drives a terminal; None is nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(map(_printable, value)) + '"'
    if isinstance(value, dict | list) and depth > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        entries = ", ".join(f"{_name(name)} = {literal(item, depth + 1)}" for name, item in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item, depth + 1) for item in value) + "]"
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return f"a number of more than {_SHOWN} digits"
    return str(value)


def shown(value: Any) -> str:
    """`literal`, short enough for a sentence."""
    said = literal(value)
    return said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"


def _name(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else literal(name)


def _printable(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    return {"\n": "\\n", "\t": "\\t"}.get(char) or (
        f"\\u{ord(char):04x}" if ord(char) < 65536 else f"\\U{ord(char):08x}"
    )


def _plain(number: float) -> str:
    return f"{number:g}" if isinstance(number, float) else f"{number}"
