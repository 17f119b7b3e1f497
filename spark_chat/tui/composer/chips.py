"""Pasted texts that stand in the prompt as chips.

In the document a chip is a mark: an opening character of its own from the private plane 16, a label for the eye, and
a closing character. What was pasted is kept here, byte for byte, and takes the mark's place when the message is
composed. Text from outside never holds a character of that plane (`pastes.is_plain`), so no text can pass for a mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spark_chat.meters.units import text_size
from spark_chat.tui.composer.pastes import fits_inline, lines

_FIRST, _LAST = 0x100000, 0x10FFFC
_CLOSE = "\U0010fffd"
_MARK = re.compile("[\U00100000-\U0010fffc][^\U0010fffd]*\U0010fffd")


@dataclass(frozen=True)
class Span:
    """A chip in one line of the document: columns `start` up to `end`."""

    start: int
    end: int
    chip: str


class Chips:
    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._next = _FIRST

    def mark(self, text: str) -> str:
        """Keeps `text` and returns the mark that stands for it."""
        while chr(self._next) in self._texts:
            self._next = _FIRST if self._next >= _LAST else self._next + 1
        chip = chr(self._next)
        self._texts[chip] = text
        return f"{chip}{label(text)}{_CLOSE}"

    def admit(self, text: str) -> str:
        """`text` as the document may hold it: itself where it can be shown and kept as it is, else a mark."""
        return text if fits_inline(text) else self.mark(text)

    def text(self, chip: str) -> str:
        """What was pasted. Raises KeyError."""
        return self._texts[chip]

    def compose(self, document: str) -> str:
        """The message: what was typed and what was pasted, in order, exactly."""
        return _MARK.sub(lambda found: self._texts.get(found[0][0], ""), document)

    def keep_only(self, documents: list[str]) -> None:
        """Forgets the texts that no mark in `documents` stands for."""
        used = {found[0][0] for document in documents for found in _MARK.finditer(document)}
        self._texts = {chip: text for chip, text in self._texts.items() if chip in used}


def label(text: str) -> str:
    count = lines(text)
    return f" pasted {text_size(len(text.encode('utf-8', 'replace')))} · {count:,} line{'' if count == 1 else 's'}"


def spans(line: str) -> list[Span]:
    return [Span(found.start(), found.end(), found[0][0]) for found in _MARK.finditer(line)]


def shown(line: str) -> str:
    """The line as the screen shows it, of the same length in characters and cells."""
    return _MARK.sub(lambda found: f"⧉{found[0][1:-1]} ", line)


def has_chip(document: str) -> bool:
    return _MARK.search(document) is not None
