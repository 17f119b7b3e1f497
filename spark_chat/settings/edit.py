"""Changing one key of a person's settings file by changing one line of its text. Pure: text in, text out.

tomlkit makes the change where it can say where; a line is put in by hand where a person would look for it, below the
commented-out default. Whichever it was, nothing is believed: the outcome is read again with tomllib, must hold the
old values and the new one and nothing else, and every other line must be what it was, byte for byte.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from spark_chat.settings.file import toml
from spark_chat.settings.lines import line_of
from spark_chat.settings.problem import SettingsError
from spark_chat.settings.tree import UNSET, Path, Unset, get, pruned, put, same


class CannotEdit(SettingsError):
    """The text is such that the key can't be changed without touching more than its line."""


def edited(text: str, changes: Mapping[str, Any]) -> str:
    """`text` with each dotted key set to its value, or taken out where that is UNSET. Raises CannotEdit.

    `text` must be TOML. A key may reach into a table ("engine.args.n_batch"). A value that is there already changes
    nothing, so the text comes back as it was.
    """
    for key, value in changes.items():
        text = _changed(text, tuple(key.split(".")), value)
    return text


def _changed(text: str, path: Path, value: Any) -> str:
    before = toml(text)
    old = get(before, path)
    wanted = copy.deepcopy(before)
    put(wanted, path, value)
    if same(before, wanted):
        return text
    if isinstance(old, dict) and isinstance(value, dict):
        return _entries(text, path, old, value)
    ways: list[Callable[[], str]] = [lambda: _by_tomlkit(text, path, value)]
    if old is UNSET:
        ways = _insertions(text, path, value)
    elif isinstance(value, Unset) and not isinstance(old, dict):
        ways.append(lambda: _line_out(text, path))
    for way in ways:
        try:
            candidate = way()
            after = toml(candidate)
            span = 0 if old is UNSET else _span(text, path)
        except (TOMLKitError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            continue
        if same(pruned(after), pruned(wanted)) and _close(text, candidate, span):
            return candidate
    if isinstance(old, dict) and isinstance(value, Unset):
        return _entries(text, path, old, {})
    raise CannotEdit(
        f"{'.'.join(path)} can't be changed without touching more than its own line. Edit the file by hand."
    )


# ------------------------------------------------------------------ ways to do it


def _entries(text: str, path: Path, old: dict[str, Any], new: dict[str, Any]) -> str:
    """A table entry by entry, so that the comments in it stay."""
    for name in [*old, *(name for name in new if name not in old)]:
        text = _changed(text, (*path, name), new.get(name, UNSET))
    return text


def _insertions(text: str, path: Path, value: Any) -> list[Callable[[], str]]:
    """Likeliest place first."""
    ways: list[Callable[[], str]] = [lambda: _below_comment(text, path, value)]
    for depth in range(len(path) - 1, 0, -1):
        ways.append(functools.partial(_below_siblings, text, path[:depth], path[depth:], value))
        ways.append(functools.partial(_below_header, text, path[:depth], path[depth:], value))
    return [*ways, lambda: _at_end(text, path, value), lambda: _by_tomlkit(text, path, value)]


def _by_tomlkit(text: str, path: Path, value: Any) -> str:
    """Replaced or taken out where it stands; put into an inline table or beside dotted keys where it is new."""
    document = tomlkit.parse(_bare(text))
    inside: Any = document
    depth = 0
    while depth < len(path) - 1 and path[depth] in inside:
        inside = inside[path[depth]]
        depth += 1
    rest = path[depth:]
    if len(rest) > 1 and isinstance(inside, InlineTable):
        inside[rest[0]] = _item({rest[1]: value} if len(rest) == 2 else {rest[1]: {rest[2]: value}})
    elif len(rest) > 1:
        inside.append(tomlkit.key(list(rest)), _item(value))
    elif isinstance(inside.get(rest[0]), dict) and not isinstance(inside[rest[0]], InlineTable):
        raise TypeError("a table of several lines is changed entry by entry")
    elif isinstance(value, Unset):
        del inside[rest[0]]
    else:
        inside[rest[0]] = _item(value)
    after = tomlkit.dumps(document)
    if _newlines(text) == {True}:
        after = re.sub(r"(?<!\r)\n", "\r\n", after)  # tomlkit ends its own lines with a bare newline
    return text[: len(text) - len(_bare(text))] + after


def _below_comment(text: str, path: Path, value: Any) -> str:
    """Under "# name = default" in the key's own section."""
    section, name = path[0], path[1]
    commented = re.compile(rf"[ \t]*#[ \t]*{re.escape(name)}[ \t]*=")
    current = ""
    for number, line in enumerate(text.split("\n")):
        header = _header(line)
        current = header if header is not None else current
        if current == section and commented.match(line):
            return _inserted(text, number + 1, _assignment(path[1:], value))
    raise KeyError(name)


def _below_siblings(text: str, table: Path, rest: Path, value: Any) -> str:
    """Under the last value of `table`, named as that one is: "name" or "table.name"."""
    lines = text.split("\n")
    last: tuple[int, str] | None = None
    for name in get(toml(text), table):
        begins = line_of(text, (*table, name))
        written = begins and _ASSIGNED.match(lines[begins - 1])
        if begins and written and written[2].strip("\"'") == name:
            last = max(last or (0, ""), (begins + _span(text, (*table, name)) - 1, written[1]))
    if last is None:
        raise KeyError(table)
    return _inserted(text, last[0], last[1] + _assignment(rest, value))


def _below_header(text: str, table: Path, rest: Path, value: Any) -> str:
    """Under "[table]"."""
    return _inserted(text, _header_line(text, table), _assignment(rest, value))


def _line_out(text: str, path: Path) -> str:
    """Without the line, or the lines, that hold the value."""
    lines = text.split("\n")
    begins = line_of(text, path) or 0
    del lines[begins - 1 : begins - 1 + _span(text, path)]
    if begins > len(lines):
        lines.append("")
    mark = "\ufeff" if begins == 1 and text.startswith("\ufeff") else ""
    return mark + "\n".join(lines)


def _at_end(text: str, path: Path, value: Any) -> str:
    """A new section."""
    newline = _newline(text)
    gap = "" if not _bare(text).strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + f"[{path[0]}]{newline}{_assignment(path[1:], value)}{newline}"


# ------------------------------------------------------------------ text


_HEADER = re.compile(r"\ufeff?[ \t]*\[[ \t]*([A-Za-z0-9_\-.\"' \t]+?)[ \t]*\][ \t]*(?:#.*)?\r?$")
_ASSIGNED = re.compile(r"\ufeff?[ \t]*((?:[A-Za-z0-9_\-\"']+[ \t]*\.[ \t]*)*)([A-Za-z0-9_\-\"']+)[ \t]*=")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _header(line: str) -> str | None:
    found = _HEADER.match(line)
    return ".".join(part.strip(" \t\"'") for part in found[1].split(".")) if found else None


def _header_line(text: str, table: Path) -> int:
    """The line, from 1, of "[table]". Raises KeyError."""
    for number, line in enumerate(text.split("\n"), 1):
        if _header(line) == ".".join(table):
            return number
    raise KeyError(table)


def _inserted(text: str, at: int, assignment: str) -> str:
    """`assignment` as line `at`, counted from 0, indented as the line before it."""
    lines = text.split("\n")
    newline = _newline(text)
    indent = re.match(r"[ \t]*", lines[at - 1])
    assignment = (indent[0] if indent else "") + assignment
    if at == len(lines):
        return text + newline + assignment
    lines.insert(at, assignment + newline.removesuffix("\n"))
    return "\n".join(lines)


def _assignment(path: Path, value: Any) -> str:
    name = ".".join(part if _BARE.fullmatch(part) else _item(part).as_string() for part in path)
    return f"{name} = {_item(value).as_string()}"


def _item(value: Any) -> Any:
    """The TOML of a value on one line."""
    if isinstance(value, dict):
        table = tomlkit.inline_table()
        for name, item in value.items():
            table.append(name, _item(item))
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        for item in value:
            array.append(_item(item))
        return array
    return tomlkit.item(value)


def _newline(text: str) -> str:
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _bare(text: str) -> str:
    return text.removeprefix("\ufeff")


# ------------------------------------------------------------------ believing nothing


def _span(text: str, path: Path) -> int:
    """How many lines the value at `path` takes. Raises KeyError."""
    inside: Any = tomlkit.parse(_bare(text))
    for part in path:
        inside = inside[part]
    return 1 if isinstance(inside, bool) else int(inside.as_string().count("\n")) + 1


def _newlines(text: str) -> set[bool]:
    """Which line ends there are: with a carriage return (True), without (False)."""
    return {line.endswith("\r") for line in text.split("\n")[:-1]}


def _close(before: str, after: str, span: int) -> bool:
    """Whether one place changed and all around it stayed: `span` lines gave way to one or none, or (`span` 0) a line
    was put in, with a header and an empty line where its section is new."""
    if _newlines(before) and _newlines(after) != _newlines(before):
        return False
    if span == 0 and after.startswith(before):
        return True
    old, new = _bare(before).split("\n"), _bare(after).split("\n")
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    gone, come = len(old) - head - tail, len(new) - head - tail
    inline = gone == come == 1
    return inline or (gone == 0 and come <= 3 if span == 0 else gone <= span and come <= 1)
