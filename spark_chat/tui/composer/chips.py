"""Pasted texts and attached files that stand in the prompt as chips.

In the document a chip is a mark: an opening character of its own from the private plane 16, a label for the eye, and
a closing character. What was pasted is kept here, byte for byte, and takes the mark's place when the message is
composed; so does a file's text, under its name. Text from outside never holds a character of that plane
(`pastes.is_plain`), so no text can pass for a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spark_chat.meters import units
from spark_chat.tui.composer.pastes import fits_inline, is_plain, lines

if TYPE_CHECKING:
    from spark_chat.files.attachment import Attachment

_FIRST, _LAST = 0x100000, 0x10FFFC
_CLOSE = "\U0010fffd"
_MARK = re.compile("[\U00100000-\U0010fffc][^\U0010fffd]*\U0010fffd")
LONGEST_NAME = 40
"""Characters of a file's name on its chip."""


@dataclass(frozen=True)
class Span:
    """A chip in one line of the document: columns `start` up to `end`."""

    start: int
    end: int
    chip: str


class Chips:
    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._files: dict[str, Attachment] = {}
        self._tokens: dict[str, int] = {}
        self._next = _FIRST

    def mark(self, text: str) -> str:
        """Keeps `text` and returns the mark that stands for it."""
        chip = self._free()
        self._texts[chip] = text
        return f"{chip}{label(text)}{_CLOSE}"

    def mark_file(self, file: Attachment, chip: str | None = None) -> str:
        """Keeps the file and returns the mark that stands for it; `chip`: in place of what that one held."""
        chip = chip or self._free()
        self._texts[chip], self._files[chip] = file.inlined, file
        self._tokens.pop(chip, None)
        return f"{chip}{file_label(file)}{_CLOSE}"

    def _free(self) -> str:
        while chr(self._next) in self._texts:
            self._next = _FIRST if self._next >= _LAST else self._next + 1
        return chr(self._next)

    def admit(self, text: str) -> str:
        """`text` as the document may hold it: itself where it can be shown and kept as it is, else a mark."""
        return text if fits_inline(text) else self.mark(text)

    def text(self, chip: str) -> str:
        """What was pasted, or what is in the file. Raises KeyError."""
        return self._texts[chip]

    def title(self, chip: str) -> str:
        """What it is, in a line."""
        file = self._files.get(chip)
        return label(self._texts[chip]).strip() if file is None else file_label(file, self._tokens.get(chip)).strip()

    def compose(self, document: str) -> str:
        """The message: what was typed and what was pasted, in order, exactly. A file stands in lines of its own."""
        parts: list[str] = []
        at = 0
        for found in _MARK.finditer(document):
            parts.append(document[at : found.start()])
            at = found.end()
            chip = found[0][0]
            before = next((part for part in reversed(parts) if part), "\n")
            if chip in self._files and not before.endswith("\n"):
                parts.append("\n")
            parts.append(self._texts.get(chip, ""))
        return "".join([*parts, document[at:]])

    def files(self, document: str) -> dict[str, Attachment]:
        """The files that stand in `document`, by chip."""
        return {chip: self._files[chip] for chip in _chips([document]) if chip in self._files}

    def let_be(self, chip: str) -> None:
        """The file is gone or changed past reading: what was attached is what is sent."""
        self._files[chip] = replace(self._files[chip], stamp=None)

    def weigh(self, chip: str, tokens: int) -> None:
        """The engine counted the chip's text."""
        self._tokens[chip] = tokens

    def keep_only(self, documents: list[str]) -> None:
        """Forgets the texts that no mark in `documents` stands for."""
        used = set(_chips(documents))
        self._texts = {chip: text for chip, text in self._texts.items() if chip in used}
        self._files = {chip: file for chip, file in self._files.items() if chip in used}
        self._tokens = {chip: count for chip, count in self._tokens.items() if chip in used}

    def shown(self, line: str) -> str:
        """The line as the screen shows it, of the same length in characters and cells."""
        return _MARK.sub(lambda found: self._shown(found[0]), line)

    def _shown(self, mark: str) -> str:
        chip, said = mark[0], mark[1:-1]
        file = self._files.get(chip)
        if file is None:
            return f"⧉{said} "
        counted = file_label(file, self._tokens.get(chip))
        return f"@{counted if len(counted) == len(said) else said} "


def label(text: str) -> str:
    count = lines(text)
    return (
        f" pasted {units.text_size(len(text.encode('utf-8', 'replace')))} · {count:,} line{'' if count == 1 else 's'}"
    )


def file_label(file: Attachment, tokens: int | None = None) -> str:
    """Name, size and lines; with `tokens`, name, tokens and size, in as many cells."""
    name = file.name if is_plain(file.name) else "".join(char if is_plain(char) else "\ufffd" for char in file.name)
    name = name if len(name) <= LONGEST_NAME else f"…{name[-LONGEST_NAME + 1 :]}"
    size, count = units.text_size(file.bytes), lines(file.text)
    plain = f"{size} · {units.count(count)} line{'' if count == 1 else 's'}"
    facts = plain if tokens is None else f"{units.count(tokens)} tok · {size}"
    return f"{name} · {facts.ljust(max(len(plain), len(size) + 11))}"


def _chips(documents: Iterable[str]) -> list[str]:
    return [found[0][0] for document in documents for found in _MARK.finditer(document)]


def spans(line: str) -> list[Span]:
    return [Span(found.start(), found.end(), found[0][0]) for found in _MARK.finditer(line)]


def has_chip(document: str) -> bool:
    return _MARK.search(document) is not None
