"""Reading a person's settings file: its values, and where in it anything stands. Nothing here writes."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spark_chat.settings import keys, migrate
from spark_chat.settings.lines import key_on, line_of
from spark_chat.settings.problem import BadValue, Layer, Problem, nearest
from spark_chat.settings.schema import Row, rows, sections
from spark_chat.settings.values import allowed, checked, shown

LARGEST = 1024 * 1024
"""Bytes. A settings file is a page or two; more is some other file."""
WHOLE_FALLBACK = "until it is put right, defaults are used and the file is left as it is"


@dataclass(frozen=True)
class SettingsFile:
    """One reading of the file. `values`: dotted key -> value, the valid ones alone. `text` None: it can't be read.

    `exists` False: there is none, which is no problem.
    """

    path: Path
    exists: bool = False
    text: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_file(path: Path) -> SettingsFile:
    """What stands in the file at `path`, with all that is wrong in it. Raises nothing for a file of any content."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            return _unreadable(path, "this is a folder, not a settings file")
        if not stat.S_ISREG(about.st_mode) and str(path) != "/dev/null":
            return _unreadable(path, "this is no regular file")
        with path.open("rb") as opened:
            raw = opened.read(LARGEST + 1)
    except FileNotFoundError:
        return SettingsFile(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return _unreadable(path, f"the settings file can't be read ({reason})")
    if len(raw) > LARGEST:
        return _unreadable(path, f"the file is larger than {LARGEST:,} bytes, which no settings file is")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        utf16 = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
        what = "the file is UTF-16" if utf16 else f"byte 0x{raw[error.start]:02x} is not UTF-8"
        return _unreadable(path, f"{what}; save it as UTF-8", line)
    return parse(path, text)


def parse(path: Path, text: str) -> SettingsFile:
    """The file at `path` as if `text` stood in it."""
    try:
        tree = toml(text)
    except (ValueError, RecursionError) as error:
        return SettingsFile(path, True, text, {}, (_syntax(path, text, error),))
    schema = migrate.schema_of(tree)
    if schema is None or schema > migrate.current():
        return SettingsFile(path, True, text, {}, (_foreign_schema(path, text, tree[migrate.KEY]),))
    tree = migrate.carried({key: value for key, value in tree.items() if key != migrate.KEY}, schema)
    values: dict[str, Any] = {}
    problems = []
    for key, value in _settings(tree):
        row = _ROWS.get(key)
        if row is None:
            problems.append(_unknown(path, text, key, value))
            continue
        try:
            values[key] = checked(row, value)
        except BadValue as bad:
            line = line_of(text, bad.path or key.split(".", 1))
            instead = f"the default, {shown(row.default)}, is used" if row.default is not None else "it is left out"
            instead = f"all of {key} is passed over" if row.kind == "table" else instead
            problems.append(Problem(bad.what, "file", path, line, key, allowed=bad.allowed, instead=instead))
    for clash in keys.clashes(chosen_keys(values)):
        key = f"{keys.SECTION}.{clash.action}"
        values.pop(key, None)
        problems.append(clashing(clash, "file", path, line_of(text, key.split(".", 1))))
    return SettingsFile(path, True, text, values, tuple(sorted(problems, key=lambda problem: problem.line or 0)))


def chosen_keys(values: Mapping[str, Any]) -> dict[str, str]:
    """Action -> keys, of the settings by dotted key that give any."""
    return {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{keys.SECTION}.")}


def clashing(clash: keys.Clash, layer: Layer, path: Path | None = None, line: int | None = None) -> Problem:
    """The sentence for a key that was given twice."""
    key = f"{keys.SECTION}.{clash.action}"
    what = f"{key} is {shown(clash.key)}, which is the key of {clash.other}"
    stays = shown(keys.ACTIONS[clash.action])
    return Problem(what, layer, path, line, key, allowed="a key of its own", instead=f"{stays} is used")


def toml(text: str) -> dict[str, Any]:
    """The document as plain values; a byte order mark is passed over. Raises ValueError or RecursionError."""
    return tomllib.loads(text.removeprefix("\ufeff"))


_AT = re.compile(r"\(at line (\d+), column \d+\)")
_ENDLESS = re.compile(r"[\d_]{4000,}")
_ROWS: dict[str, Row] = {row.key: row for row in rows()}
_SECTIONS = tuple(name for name, _ in sections())


def _settings(tree: dict[str, Any]) -> list[tuple[str, Any]]:
    """Dotted key and value of each setting; a section that is unknown or no table stands for itself."""
    found: list[tuple[str, Any]] = []
    for section, inside in tree.items():
        if section in _SECTIONS and isinstance(inside, dict):
            found += [(f"{section}.{name}", value) for name, value in inside.items()]
        else:
            found.append((section, inside))
    return found


def _unknown(path: Path, text: str, key: str, value: Any) -> Problem:
    line = line_of(text, key.split(".", 1))
    named = shown(key)[1:-1]  # a key in quotes may hold anything
    if key in _SECTIONS:
        return Problem(f"{named} is {shown(value)}", "file", path, line, key, allowed=f"a section, [{key}]")
    if "." not in key and isinstance(value, dict | list):
        near = nearest(key, _SECTIONS)
        known = ", ".join(_SECTIONS)
        return Problem(
            f"[{named}] is no section (there are {known})", "file", path, line, key, nearest=near and f"[{near}]"
        )
    near = nearest(key, _ROWS)
    return Problem(
        f"{named} is no setting", "file", path, line, key, nearest=near, instead="" if near else "it does nothing"
    )


def _syntax(path: Path, text: str, error: BaseException) -> Problem:
    """Where the file stops being TOML, with the key on that line and what that key takes."""
    said = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
    at = _AT.search(said)
    lines = text.split("\n")
    line = int(at[1]) if at else len(lines) if "end of document" in said else None
    endless = _ENDLESS.search(text)
    if not isinstance(error, tomllib.TOMLDecodeError | RecursionError) and endless:
        said, line = "a number is too long", text.count("\n", 0, endless.start()) + 1
    said = _AT.sub("", said).replace("(at end of document)", "").strip()
    key = row = None
    if line is not None and line <= len(lines):
        key = key_on(lines, line)
        row = _ROWS.get(key or "")
    what = f"this is not TOML: {said[:1].lower()}{said[1:]}" + (f", at {key}" if key else "")
    near = nearest(key, _ROWS) if key and row is None and not key.startswith("engine.args.") else None
    if key and "overwrite" in said:
        what, row = f"{key} is set for the second time, which is not TOML", None
    takes = allowed(row) if row else ""
    return Problem(what, "file", path, line, key, allowed=takes, nearest=near, instead=WHOLE_FALLBACK)


def _foreign_schema(path: Path, text: str, schema: Any) -> Problem:
    line, known = line_of(text, [migrate.KEY]), migrate.current()
    if isinstance(schema, int) and not isinstance(schema, bool) and schema > known:
        what = f"the settings are from a newer spark-chat (schema {schema}; this one knows {known}); update spark-chat"
    else:
        what = f"schema is {shown(schema)}, and is kept by spark-chat itself; take the line out"
    return Problem(what, "file", path, line, migrate.KEY, instead=WHOLE_FALLBACK)


def _unreadable(path: Path, what: str, line: int | None = None) -> SettingsFile:
    return SettingsFile(path, True, None, {}, (Problem(what, "file", path, line, instead=WHOLE_FALLBACK),))
