"""From lines to prompts. Pure.

A line is a prompt. Three things make one prompt of several lines:

- a backslash at the end of a line: the next line belongs to it (two backslashes are text);
- a Markdown fence, ``` or ~~~ at the start of a line: all up to the fence that closes it, both fences included;
- a line of three double quotes alone: all up to the next such line; the quotes are left out.
"""

from __future__ import annotations

import re

_QUOTES = '"""'
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")


class Gathering:
    """Give it lines, without their ends; it gives back prompts."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._fence = ""
        self._quoted = False

    @property
    def open(self) -> bool:
        """Whether a prompt was begun that more lines belong to."""
        return bool(self._lines) or self._quoted

    def take(self, line: str) -> str | None:
        """One more line. The prompt that it ends; None where none ends with it, or the prompt is blank."""
        if self._quoted:
            if line.strip() == _QUOTES:
                return self.rest()
            self._lines.append(line)
            return None
        if self._fence:
            self._lines.append(line)
            bare = line.strip()
            closes = len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}
            return self.rest() if closes else None
        if line.strip() == _QUOTES and not self._lines:
            self._quoted = True
            return None
        if fence := _FENCE.match(line):
            self._fence = fence[1]
            self._lines.append(line)
            return None
        if (len(line) - len(line.rstrip("\\"))) % 2:
            self._lines.append(line[:-1])
            return None
        self._lines.append(line)
        return self.rest()

    def rest(self) -> str | None:
        """What was begun, as it is; None where there is nothing in it."""
        text = "\n".join(self._lines)
        self._lines, self._fence, self._quoted = [], "", False
        return text if text.strip() else None

    def drop(self) -> bool:
        """Forget what was begun. False where there was nothing."""
        begun = self.open
        self.rest()
        return begun
