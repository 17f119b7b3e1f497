"""What can be wrong with settings, in one sentence: file, line, key, what is allowed, what was likely meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Layer = Literal["default", "file", "environment", "command line"]


@dataclass(frozen=True)
class Origin:
    """Where a value came from. `detail`: the file's path, the variable's name, or the flag ("--set", "--model")."""

    layer: Layer = "default"
    detail: str = ""

    def __str__(self) -> str:
        return self.detail or self.layer


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong. `str()` is the sentence for a person.

    `what` is wrong, as the sentence's middle ('optimizations.mtp is "maybe"'). `instead`: what is used in its place.
    """

    what: str
    layer: Layer = "file"
    file: Path | None = None
    line: int | None = None
    key: str | None = None
    source: str = ""
    """The variable or flag, where it is not the file."""
    allowed: str = ""
    nearest: str | None = None
    instead: str = ""

    @property
    def where(self) -> str:
        """ "…/settings.toml line 3", a variable, a flag, or nothing."""
        if self.file is None:
            return self.source
        return f"{self.file} line {self.line}" if self.line else str(self.file)

    def __str__(self) -> str:
        said = f"{self.where}: {self.what}" if self.where else self.what
        if self.allowed:
            said += f"; it must be {self.allowed}"
        if self.nearest:
            said += f"; did you mean {self.nearest}?"
        if self.instead:
            said += f" {self.instead}" if self.nearest else f"; {self.instead}"
        return printable(said if said.endswith(("?", ".")) else said + ".").replace("\n", " ")


def printable(text: str) -> str:
    """`text` with nothing in it that drives a terminal: names and paths come from files, variables and the shell."""
    return "".join(char if char.isprintable() or char == "\n" else f"\\u{ord(char):04x}" for char in text)


class SettingsError(Exception):
    """Something a person asked of the settings can't be done; the text is the sentence for them."""

    def __init__(self, text: str) -> None:
        super().__init__(printable(text))


class InvalidFile(SettingsError):
    """The file has problems, so it is left alone."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class CannotSave(SettingsError):
    """The file could not be written; the old one is intact."""


class BadValue(SettingsError):
    """A value that a setting does not take: `what` and `allowed` as in Problem. `path`: of the entry, in a table."""

    def __init__(self, what: str, allowed: str = "", path: tuple[str, ...] = ()) -> None:
        super().__init__(f"{what}; it must be {allowed}." if allowed else f"{what}.")
        self.what, self.allowed, self.path = what, allowed, path


class UnknownKey(SettingsError):
    """A key that is no setting; `nearest` is the known one that looks most like it."""

    def __init__(self, key: str, nearest: str | None) -> None:
        super().__init__(f"{key} is no setting" + (f"; did you mean {nearest}?" if nearest else "."))
        self.key, self.nearest = key, nearest


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known dotted name that `name` was most likely meant to be, or None where nothing is near."""
    from difflib import SequenceMatcher, get_close_matches

    names = list(known)
    wanted = name.lower().replace("-", "_")
    last = wanted.rpartition(".")[2]
    for candidate in names:
        if candidate.rpartition(".")[2] == last and last:
            return candidate
    close = get_close_matches(wanted, names, n=1, cutoff=0.6)
    if close:
        return close[0]
    by_last = {candidate.rpartition(".")[2]: candidate for candidate in reversed(names)}
    close = get_close_matches(last, by_last, n=3, cutoff=0.6)  # of equals the one as long: "mpt" is mtp, not prompt
    found = max(
        close, key=lambda name: (SequenceMatcher(None, name, last).ratio(), -abs(len(name) - len(last))), default=None
    )
    return None if found is None else by_last[found]
