"""Where Markdown can be cut while it still streams: closed top-level blocks, and the open rest.

Once a top-level block (or a top-level list's item) is followed by another, no later text changes its structure; only
reference definitions reach back, and those are kept apart. So: parse the open text at the end of a line that could
close something, commit all units but the last. Decisions depend on the text alone, never on how it was chunked.

Cost is linear: inside a fence, a list item, a table or a paragraph most lines are told from one regular expression,
and where a parse closes nothing the next one waits until the open text has doubled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from spark_chat.text.clean import CARRIAGE_RETURN
from spark_chat.text.grammar import block_tokens

if TYPE_CHECKING:
    from markdown_it.token import Token

LARGEST = 100_000
"""Characters of one block that are parsed as Markdown; a larger one is shown as plain text."""
FENCE_LINES, FENCE_CHARACTERS = 2_000, 400_000
"""Of code that stand in one block; what a fence has more goes on in the next one."""
_KINDS = {
    "paragraph_open": "paragraph", "heading_open": "heading", "fence": "fence", "code_block": "code",
    "blockquote_open": "quote", "hr": "rule", "table_open": "table",
}  # fmt: skip
_LISTS = ("bullet_list_open", "ordered_list_open")
_ENDED_BY_BLANK = ("paragraph", "table", "quote")
_MAY_START = re.compile(
    r"[ \t]*(?:#{1,6}(?:[ \t]|$)|>|`{3}|~{3}|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|=+[ \t]*$|[-_*|: \t]+$)"
)
_ITEM = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])")


@dataclass(frozen=True, slots=True)
class Block:
    """One closed unit. `source` has its newlines and blank lines; `kind` is paragraph, heading, fence, code, quote,
    rule, table, item or text. `number`: an ordered item's, counted along its list. `gap`: stands apart from what is
    before it."""

    source: str
    kind: str
    number: int | None = None
    gap: bool = True
    info: str | None = None
    """Of a fence that goes on from the block before, without an opening line: what stands after its marks there."""
    ended: bool = False
    """Such a fence's last line is its closing one."""


@dataclass(slots=True)
class _Unit:
    line: int
    kind: str
    number: int | None = None
    follows: bool = False
    """An item of the same list as the unit before."""


class BlockSplitter:
    """Feed cleaned text, get closed blocks. `"".join(b.source) + tail` is always all that was fed."""

    def __init__(self) -> None:
        self.kind: str | None = None
        """Of the open block; None where it is not known yet."""
        self._lines: list[str] = []
        self._partial: list[str] = []
        self._size = 0
        self._retry = 0
        self._doubt = False
        self._offset = 0
        self._closing: re.Pattern[str] | None = None
        self._number: int | None = None
        self._follows = False
        self._after_blank = True
        self._after_item = False
        self._info = ""
        self._goes_on = False

    @property
    def goes_on(self) -> bool:
        """Whether the open block is a fence that goes on: its opening line stands in a block before."""
        return self._goes_on

    @property
    def tail(self) -> str:
        """The open text."""
        return "".join((*self._lines, *self._partial))

    @property
    def gap(self) -> bool:
        """Whether the open block stands apart from what is before it."""
        return not self._goes_on and not (
            self.kind == "item" and self._after_item and self._follows and not self._after_blank
        )

    def feed(self, text: str) -> list[Block]:
        """Take more text; return the blocks that it closed."""
        closed: list[Block] = []
        if "\n" not in text:
            if text:
                self._partial.append(text)
            return closed
        *lines, rest = ("".join(self._partial) + text).split("\n")
        self._partial = [rest] if rest else []
        for line in lines:
            self._line(line, closed)
        return closed

    def finish(self) -> list[Block]:
        """No more text comes: close what is open."""
        closed: list[Block] = []
        if self._partial:
            self._lines.append("".join(self._partial))
            self._size += len(self._lines[-1])
            self._partial = []
            self._doubt = True
        if self._goes_on:
            self._commit_part(closed)
        elif self._size > LARGEST and self.kind != "fence":
            self._commit_all("text", closed)
        if self._lines and (self._doubt or self.kind not in ("fence", *_ENDED_BY_BLANK)):
            self._split(self._units(), closed)
        if self._lines:
            self._commit_all(self.kind or "text", closed)
        self._open([], None)
        return closed

    def _line(self, line: str, closed: list[Block]) -> None:
        self._lines.append(line + "\n")
        self._size += len(line) + 1
        line = line.rstrip(CARRIAGE_RETURN)
        blank = _blank(line)
        kind = self.kind
        if kind == "fence":
            ended = self._closing is not None and self._closing.match(line)
            if self._goes_on and (ended or self._too_much):
                self._commit_part(closed)
            elif ended:
                self._commit_all(kind, closed)
            elif self._too_much:
                self._commit(self._lines, kind, closed)
                self._lines, self._size, self._goes_on = [], 0, True
            return
        if self._size > LARGEST:
            self._commit_all("text", closed)
            return
        if kind is None:
            if blank:
                return
        elif blank:
            if kind not in _ENDED_BY_BLANK:
                return
            if not self._doubt:
                self._commit_all(kind, closed)
                return
        elif kind in ("item", "code"):
            if _indent(line) >= self._offset:
                return
        elif not _MAY_START.match(line):
            return
        if self._size < self._retry:
            self._doubt = True
            return
        before = len(closed)
        self._split(self._units(), closed)
        if len(closed) == before and kind is not None and kind == self.kind:
            self._retry = 2 * self._size

    def _units(self) -> list[_Unit]:
        units: list[_Unit] = []
        number: int | None = None
        first = True
        for token in block_tokens("".join(self._lines)):
            if token.map is None or token.nesting < 0:
                continue
            if token.level == 0 and token.type in _LISTS:
                number = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None
                if not units and self._number is not None and number is not None:
                    number = self._number
                first = True
            elif token.level == 1 and token.type == "list_item_open":
                units.append(_Unit(token.map[0], "item", number, not first))
                number = None if number is None else number + 1
                first = False
            elif token.level == 0 and token.type in _KINDS:
                units.append(_Unit(token.map[0], _KINDS[token.type]))
                if token.type == "fence":
                    self._closing, self._info = _closing(token), token.info
        return units

    def _split(self, units: list[_Unit], closed: list[Block]) -> None:
        """Commit all units but the last, which stays open unless nothing can follow in it."""
        if not units:
            self._doubt, self._retry = False, 2 * self._size
            return
        lines, carried = self._lines, self._follows
        start = 0
        for unit, following in pairwise(units):
            self._number, self._follows = unit.number, unit.follows or (start == 0 and carried)
            self._commit(lines[start : following.line], unit.kind, closed)
            start = following.line
        last = units[-1]
        self._open(lines[start:], last.kind)
        self._number, self._follows = last.number, last.follows or (start == 0 and carried)
        if last.kind == "item":
            self._offset = _content_offset(lines[last.line])
        elif last.kind == "code":
            self._offset = 4
        elif last.kind in ("heading", "rule") or (last.kind == "fence" and self._fence_is_closed(lines[last.line :])):
            self._commit_all(last.kind, closed)

    def _fence_is_closed(self, lines: list[str]) -> bool:
        last = next((line for line in reversed(lines[1:]) if not _blank(line)), None)
        if last is None or self._closing is None:
            return False
        return self._closing.match(last.rstrip(CARRIAGE_RETURN + "\n")) is not None

    @property
    def _too_much(self) -> bool:
        return len(self._lines) >= FENCE_LINES or self._size >= FENCE_CHARACTERS

    def _commit_part(self, closed: list[Block]) -> None:
        """What there is of a fence that goes on."""
        last = self._lines[-1] if self._lines else ""
        last = last[:-1].rstrip(CARRIAGE_RETURN) if last.endswith("\n") else last
        ended = self._closing is not None and self._closing.match(last) is not None
        if self._lines:
            closed.append(Block("".join(self._lines), "fence", None, False, self._info, ended))
        self._lines, self._size = [], 0
        if ended:
            self._after_blank = self._after_item = False
            self._open([], None)

    def _commit_all(self, kind: str, closed: list[Block]) -> None:
        self._commit(self._lines, kind, closed)
        self._open([], None)

    def _commit(self, taken: list[str], kind: str, closed: list[Block]) -> None:
        item = kind == "item"
        gap = not (item and self._after_item and self._follows and not self._after_blank and not _blank(taken[0]))
        closed.append(Block("".join(taken), kind, self._number if item else None, gap))
        self._after_blank = _blank(taken[-1])
        self._after_item = item

    def _open(self, lines: list[str], kind: str | None) -> None:
        self._lines, self.kind = lines, kind
        self._size = sum(map(len, lines))
        self._retry, self._doubt = 0, False
        self._number, self._follows = None, False
        self._goes_on = False


def _closing(token: Token) -> re.Pattern[str]:
    """What closes this fence: its own character, at least as often, indented by three at most."""
    mark, count = re.escape(token.markup[0]), len(token.markup)
    return re.compile(f" {{0,3}}{mark}{{{count},}}[ \t]*$")


def _blank(line: str) -> bool:
    return not line.rstrip(CARRIAGE_RETURN + "\n").strip()


def _indent(line: str) -> int:
    spaces = line[: len(line) - len(line.lstrip(" \t"))]
    return len(spaces.expandtabs(4))


def _content_offset(line: str) -> int:
    """Columns before an item's own text: lines indented that far belong to it."""
    line = line.expandtabs(4).rstrip("\n")
    marker = _ITEM.match(line)
    if marker is None:
        return 2
    spaces = len(line) - marker.end() - len(line[marker.end() :].lstrip(" "))
    return marker.end() + (spaces if 1 <= spaces <= 4 and line[marker.end() :].strip() else 1)
