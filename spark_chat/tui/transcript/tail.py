"""An answer's open block while it streams: plain text, or code on its ground. Of its chunks only the last grows."""

from __future__ import annotations

import re

from spark_chat.text.code import LINES, CodeHead, CodeLines, Colours
from spark_chat.text.outline import plain_pieces
from spark_chat.text.piece import Piece, Plain
from spark_chat.text.wrap import wrap

CHUNK = 2_000
"""Characters of a chunk before a new one starts at the next line."""
FLOOD = 50_000
"""Characters at once that are not fitted to what was there: an opened thought of megabytes."""
_CLOSING = re.compile(r" {0,3}[`~]+$")


class Tail:
    """Pieces of the open text. `grow` says from which piece on they changed."""

    def __init__(self, role: str = "text") -> None:
        self._role = role
        self.pieces: list[Piece] = []
        self._code = False
        self._held = ""
        self._gap = 0

    def reset(self, text: str, kind: str | None, gap: int, width: int, goes_on: bool = False) -> None:
        """Another block is open, with `text` so far. `goes_on`: it is code whose opening line stands before."""
        self.pieces = []
        self._held = ""
        self._gap = gap
        text = text if goes_on else text.lstrip("\n")
        self._code = goes_on or (kind == "fence" and "\n" in text)
        if self._code and not goes_on:
            opening, text = text.split("\n", 1)
            self.pieces.append(CodeHead(opening + "\n", opening.strip().lstrip("`~"), gap=gap))
        if text:
            self.grow(text, width)

    def grow(self, text: str, width: int) -> int:
        """More text of the same block; the index of the first piece that changed."""
        changed = max(0, len(self.pieces) - 1)
        if self._code:
            self._grow_code(text)
        elif len(text) > FLOOD:
            self.pieces += plain_pieces(text, self._role)
        else:
            self._grow_plain(text, width)
        return changed

    def _grow_plain(self, text: str, width: int) -> None:
        last = self.pieces[-1] if self.pieces else None
        if not isinstance(last, Plain):
            text = text.lstrip("\n")
            if not text:
                return
            last = Plain("", role=self._role, gap=self._gap)
            self.pieces.append(last)
        last.source += text
        while len(last.source) > CHUNK:
            cut = last.source.find("\n", CHUNK) + 1
            if not cut:
                if len(last.source) < 2 * CHUNK:
                    return
                cut = last.source.rfind("\n", 0, 2 * CHUNK) + 1
            if not cut:  # one endless line: cut it where a row begins
                rows = wrap(last.source[: 2 * CHUNK], width)
                cut = rows[-2:][0][0] or rows[-1][0] or 2 * CHUNK  # characters without a width make few rows, or one
                last.join = ""
            if cut == len(last.source):
                return
            rest = Plain(last.source[cut:], role=self._role)
            last.source = last.source[:cut]
            last = rest
            self.pieces.append(rest)

    def _grow_code(self, text: str) -> None:
        text = self._held + text
        self._held = ""
        cut = text.rfind("\n") + 1
        if _CLOSING.match(text[cut:]):  # perhaps the closing fence: not shown before it is known to be code
            text, self._held = text[:cut], text[cut:]
        if not text:
            return
        last = self.pieces[-1] if self.pieces else None
        if not isinstance(last, CodeLines):
            last = CodeLines("", 0, Colours(""))
            self.pieces.append(last)
        last.source += text
        while last.source.count("\n") > LINES:
            lines = last.source.split("\n", LINES)
            last.source = "\n".join(lines[:LINES]) + "\n"
            last = CodeLines(lines[LINES], last.first + LINES, last.colours)
            self.pieces.append(last)
