"""One line of the doctor's: what was looked at, what was found, how bad it is, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["fine", "warning", "wrong"]

MARKS: dict[Level, str] = {"fine": "✓", "warning": "!", "wrong": "✗"}


@dataclass(frozen=True)
class Finding:
    """`remedy`: what to do, given wherever `level` is not "fine". `fix` does it where that is safe, takes nothing
    that is the person's, and says what it did; it raises OSError."""

    name: str
    level: Level
    text: str
    remedy: str = ""
    fix: Callable[[], str] | None = field(default=None, compare=False)

    def line(self, width: int) -> str:
        """For a person; `width`: columns of the longest name."""
        said = f"{self.text} {self.remedy}".rstrip()
        return f"{MARKS[self.level]} {self.level:<7}  {self.name:<{width}}  {said}"


def fine(name: str, text: str) -> Finding:
    return Finding(name, "fine", text)


def warning(name: str, text: str, remedy: str, fix: Callable[[], str] | None = None) -> Finding:
    return Finding(name, "warning", text, remedy, fix)


def wrong(name: str, text: str, remedy: str) -> Finding:
    return Finding(name, "wrong", text, remedy)
