"""Theme files: ours beside the package and a person's own in the settings folder, as Textual's themes.

A file is a person's to get wrong: what cannot be used is named in a sentence with its file and key, and the rest is
used. Nothing in a file reaches the stylesheet before it was read as a colour or a style.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from spark_chat import locations, ordinary

COLORS = (
    "primary", "secondary", "accent", "success", "warning", "error",
    "foreground", "background", "surface", "panel", "boost",
)  # fmt: skip
LARGEST = 1024 * 1024
"""Bytes of a theme file."""
NUMBERS = ("luminosity_spread", "text_alpha")
SWITCHES = ("dark", "ansi")
IN_USE = "in use"
"""What is said beside the theme that is drawn in."""
KEYS = ("name", "base", *SWITCHES, *COLORS, *NUMBERS, "variables")

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_AUTO = re.compile(r"auto( \d{1,3}%)?")
_ALPHA = re.compile(r"(.+) (\d{1,3})%")
_STYLES = {"bold", "b", "dim", "italic", "i", "underline", "u", "reverse", "strike", "none", "not", "blink"}


@dataclass(frozen=True)
class Themes:
    """`themes` by name, a person's own over ours; `problems`: a sentence for each thing that could not be used.
    `faulty`: names of themes in whose file something is wrong."""

    themes: dict[str, Theme]
    problems: tuple[str, ...]
    faulty: frozenset[str] = frozenset()


def load() -> Themes:
    """All theme files there are. Never raises."""
    themes: dict[str, Theme] = {}
    problems: list[str] = []
    faulty = set()
    for file in _files(problems):
        before = len(problems)
        theme = read(file, {**BUILTIN_THEMES, **themes}, problems.append)
        if theme is not None:
            themes[theme.name] = theme
        if len(problems) > before:
            faulty.add(theme.name if theme is not None else file.stem)
    return Themes(themes, tuple(problems), frozenset(faulty))


def one(name: str) -> Theme | None:
    """The theme of that name, where a file of that name has it by itself: quick, for the first screen. None: see
    `load`, which also says what is wrong. Never raises."""
    if not _NAME.fullmatch(name):
        return None
    try:
        files = [locations.own_themes() / f"{name}.toml"]
    except locations.NoHome:
        files = []
    for file in (*files, locations.shipped_themes() / f"{name}.toml"):
        if file.is_file():
            problems: list[str] = []
            theme = read(file, BUILTIN_THEMES, problems.append)
            return theme if theme is not None and theme.name == name and not problems else None
    return None


def ordered(themes: Mapping[str, Theme]) -> list[str]:
    """Names in the order to list them: ours and a person's own before Textual's, those of the terminal's own colours
    last in each."""
    return sorted(themes, key=lambda name: (name in BUILTIN_THEMES, themes[name].ansi, name))


def meant(name: str, themes: Mapping[str, Theme]) -> str | None:
    """The theme that was most likely meant by `name`: of those that have it in theirs the first one listed."""
    from spark_chat.settings.problem import nearest

    word = name.strip().lower()
    having = (known for known in ordered(themes) if word and word in known.lower())
    return next(having, None) or nearest(name, themes)


def read(file: Path, bases: Mapping[str, Theme], report: Callable[[str], None]) -> Theme | None:
    """The theme in `file`; None, and a sentence to `report`, where there is none to be had."""
    try:
        table = tomllib.loads(ordinary.read(file, LARGEST).decode("utf-8"))
    except OSError as error:
        report(f"The theme file {file} cannot be read: {error.strerror}.")
        return None
    except UnicodeDecodeError:
        report(f"The theme file {file} is not UTF-8 text.")
        return None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a plain ValueError
        report(f"The theme file {file} is no valid TOML: {error}.")
        return None
    return _Reader(file, report).theme(table, bases)


def _files(problems: list[str]) -> Iterator[Path]:
    """Ours, then the person's, so that theirs win."""
    yield from sorted(locations.shipped_themes().glob("*.toml"))
    try:
        yield from sorted(locations.own_themes().glob("*.toml"))
    except (OSError, locations.NoHome) as error:
        problems.append(f"Your own themes cannot be read: {error}")


class _Reader:
    def __init__(self, file: Path, report: Callable[[str], None]) -> None:
        self._file, self._report = file, report

    def _problem(self, key: str, what: str) -> None:
        self._report(f"In the theme file {self._file}, {key} {what}.")

    def theme(self, table: dict[str, Any], bases: Mapping[str, Theme]) -> Theme | None:
        values: dict[str, Any] = {"name": self._file.stem, "variables": {}}
        values |= self._base(table.get("base"), bases)
        for key, value in table.items():
            if key not in KEYS:
                near = get_close_matches(key, KEYS, 1)
                self._problem(key, "is no key of a theme" + (f"; did you mean {near[0]}?" if near else ""))
            elif key == "name":
                if isinstance(value, str) and _NAME.fullmatch(value):
                    values["name"] = value
                else:
                    self._problem(key, f"is {value!r}, and a name has letters, digits, - and _ only")
            elif key in COLORS and self._is_color(key, value):
                values[key] = value
            elif key in SWITCHES:
                if isinstance(value, bool):
                    values[key] = value
                else:
                    self._problem(key, f"is {value!r}, and must be true or false")
            elif key in NUMBERS:
                if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
                    values[key] = float(value)
                else:
                    self._problem(key, f"is {value!r}, and must be a number from 0 to 1")
        if "primary" not in values:
            self._problem("primary", "has no colour, so the theme is left out. Give it one, or a base")
            return None
        return self._finished(values, table.get("variables", {}))

    def _base(self, name: object, bases: Mapping[str, Theme]) -> dict[str, Any]:
        if name is None:
            return {}
        base = bases.get(name) if isinstance(name, str) else None
        if base is None:
            near = get_close_matches(str(name), list(bases), 1)
            self._problem("base", f"is {name!r}, and there is no such theme" + (f": {near[0]}?" if near else ""))
            return {}
        values = {item.name: getattr(base, item.name) for item in fields(Theme) if item.name != "name"}
        return values | {"variables": dict(base.variables)}

    def _is_color(self, key: str, value: object) -> bool:
        if isinstance(value, str) and _color(value):
            return True
        self._problem(key, f"is {value!r}, and that is no colour. Write #rrggbb or a colour's name")
        return False

    def _finished(self, values: dict[str, Any], variables: object) -> Theme | None:
        """With the variables that can be used. The last look is Textual's own: what it refuses is left out."""
        theme = Theme(**values)
        try:
            names = replace(theme, variables={}).to_color_system().generate()
        except Exception as error:  # a person's file must not take the chat down, whatever Textual makes of it
            self._report(f"The theme file {self._file} cannot be used: {error}.")
            return None
        if not isinstance(variables, dict):
            self._problem("variables", "must be a table")
            return theme
        for name, value in variables.items():
            if name not in names:
                near = get_close_matches(name, names, 1)
                self._problem(f"variables.{name}", "is no variable" + (f"; did you mean {near[0]}?" if near else ""))
            elif name.endswith("-style"):
                if isinstance(value, str) and value.split() and _STYLES.issuperset(value.split()):
                    theme.variables[name] = value
                else:
                    self._problem(f"variables.{name}", f"is {value!r}, and that is no style such as bold or underline")
            elif isinstance(value, str) and (_color(value) or _faded(value) or _is_auto(value, names[name])):
                theme.variables[name] = value
            else:
                self._problem(f"variables.{name}", f"is {value!r}, and that is no colour. Write #rrggbb")
        return theme


def _is_auto(value: str, default: str) -> bool:
    """Whether it is Textual's `auto 60%`, for one of the variables that may be so: not every property takes it."""
    return default.startswith("auto") and _AUTO.fullmatch(value) is not None


def _color(value: str) -> bool:
    """Whether it is one colour, in a form that the stylesheet takes as well."""
    if not re.fullmatch(r"#?[\w(),.% -]+", value, re.ASCII):
        return False
    try:
        Color.parse(value)
    except ColorParseError:
        return False
    return True


def _faded(value: str) -> bool:
    """Whether it is a colour and how much of it: `#82b4e0 40%`."""
    found = _ALPHA.fullmatch(value)
    return found is not None and _color(found[1]) and int(found[2]) <= 100
