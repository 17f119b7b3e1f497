"""One line of the doctor's: what was looked at, what was found, how bad it is, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["fine", "warning", "wrong"]

MARKS: dict[Level, str] = {"fine": "✓", "warning": "!", "wrong": "✗"}


@dataclass(frozen=True)
class Finding:
    """`remedy`: what to do, given wherever `level` is not "fine"."""

    name: str
    level: Level
    text: str
    remedy: str = ""

    def line(self, width: int) -> str:
        """For a person; `width`: columns of the longest name."""
        said = f"{self.text} {self.remedy}".rstrip()
        return f"{MARKS[self.level]} {self.level:<7}  {self.name:<{width}}  {said}"


def fine(name: str, text: str) -> Finding:
    return Finding(name, "fine", text)


def warning(name: str, text: str, remedy: str) -> Finding:
    return Finding(name, "warning", text, remedy)


def wrong(name: str, text: str, remedy: str) -> Finding:
    return Finding(name, "wrong", text, remedy)
