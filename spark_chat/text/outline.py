"""Markdown's tree flattened to pieces: each leaf with the bullets, numbers and bars of what it stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_chat.text.clean import CARRIAGE_RETURN
from spark_chat.text.code import code_pieces
from spark_chat.text.grammar import DEEPEST, block_tokens
from spark_chat.text.piece import Piece, Plain, Prose, Rule
from spark_chat.text.row import Lead
from spark_chat.text.table import ROWS, Shape, TableRows

if TYPE_CHECKING:
    from markdown_it.token import Token

_BULLETS = ("•", "◦", "▪")
_PLAIN_CHUNK = 4_000
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(slots=True)
class _Container:
    """A quote, or a list's item: `mark` before its first row, as many cells before the others."""

    mark: str
    rest: str
    role: str
    token: Token
    fresh: bool = True


class TooDeep(Exception):
    """Nested further than the parser follows; it would drop text."""


def outline(source: str, references: dict[str, Any] | None = None, *, number: int | None = None) -> list[Piece]:
    """Pieces of `source`, cleaned Markdown. `number`: that of its first ordered item. Blank lines become gaps."""
    tokens = block_tokens(source, references)
    if any(token.level >= DEEPEST - 1 for token in tokens):
        raise TooDeep
    return _Outline(source.replace(CARRIAGE_RETURN + "\n", "\n"), references, number).walk(tokens)


def plain_pieces(text: str, role: str = "text") -> list[Piece]:
    """`text` as it is, in pieces of some kilobytes, cut at lines' ends; an endless line at a blank if it has one."""
    pieces: list[Piece] = []
    start = 0
    while start < len(text):
        end = text.find("\n", min(len(text), start + _PLAIN_CHUNK), start + 2 * _PLAIN_CHUNK) + 1
        cut = not end and len(text) - start > 2 * _PLAIN_CHUNK
        if cut:
            end = text.rfind(" ", start + _PLAIN_CHUNK, start + 2 * _PLAIN_CHUNK) + 1 or start + 2 * _PLAIN_CHUNK
        piece = Plain(text[start : end or len(text)], role=role)
        if cut:
            piece.join = ""
        pieces.append(piece)
        end = end or len(text)
        start = end
    return pieces


class _Outline:
    def __init__(self, source: str, references: dict[str, Any] | None, number: int | None) -> None:
        self._lines = source.split("\n")
        self._references = references
        self._number = number
        self._containers: list[_Container] = []
        self._lists: list[int | None] = []
        self._pieces: list[Piece] = []
        self._line = 0
        self._covered = 0
        self._apart = False
        """The next piece begins a list or a quote of its own."""

    def walk(self, tokens: list[Token]) -> list[Piece]:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            kind = token.type
            if token.level == 0 and token.map is not None and token.nesting >= 0:
                self._definitions(token.map[0])
                self._covered = token.map[1]
            if kind == "blockquote_open":
                self._apart = self._apart or not self._containers
                self._containers.append(_Container("▌ ", "▌ ", "quote", token))
            elif kind in ("bullet_list_open", "ordered_list_open"):
                self._open_list(token)
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self._lists.pop()
            elif kind == "list_item_open":
                self._open_item(token)
            elif kind in ("list_item_close", "blockquote_close"):
                self._close()
            elif kind in ("paragraph_open", "heading_open"):
                self._prose(token, tokens[at + 1].content)
            elif kind in ("fence", "code_block"):
                self._code(token)
            elif kind == "hr":
                text, gap = self._take(token)
                self._pieces.append(Rule(text, lead=self._lead(), gap=gap))
            elif kind == "table_open":
                at = self._table(tokens, at)
            at += 1
        self._definitions(len(self._lines))
        return self._pieces

    def _definitions(self, end: int) -> None:
        """Lines that no token covers define references. They show: what came is seen."""
        shown = [at for at in range(self._covered, end) if self._lines[at].strip()]
        if shown:
            text = "".join(line + "\n" for line in self._lines[shown[0] : shown[-1] + 1])
            self._pieces.append(Plain(text, role="muted", gap=1 if self._pieces else 0))

    def _open_list(self, token: Token) -> None:
        self._apart = self._apart or not self._containers
        number: int | None = None
        if token.type == "ordered_list_open":
            number = int(token.attrs.get("start", 1))
            if self._number is not None and not self._pieces and not self._lists:
                number = self._number
        self._lists.append(number)

    def _open_item(self, token: Token) -> None:
        number = self._lists[-1]
        if number is None:
            depth = sum(1 for each in self._lists if each is None) - 1
            mark = f" {_BULLETS[min(depth, len(_BULLETS) - 1)]} "
        else:
            mark = f"{number}.".rjust(3) + " "
            self._lists[-1] = number + 1
        self._containers.append(_Container(mark, " " * len(mark), "marker", token))

    def _close(self) -> None:
        if self._containers[-1].fresh:  # nothing in it: its mark still shows
            text, gap = self._take(self._containers[-1].token)
            self._pieces.append(Prose(text, "", lead=self._lead(), gap=gap))
        self._containers.pop()

    def _lead(self) -> Lead:
        first = tuple((each.mark if each.fresh else each.rest, each.role) for each in self._containers)
        rest = tuple((each.rest, each.role) for each in self._containers)
        for each in self._containers:
            each.fresh = False
        return Lead(first, rest)

    def _take(self, token: Token) -> tuple[str, int]:
        """The token's source, and the blank rows before it."""
        start, end = token.map or [self._line, self._line]
        gap = 1 if self._pieces and start > 0 and not self._lines[start - 1].strip("> \t") else 0
        if self._pieces and (self._apart or not self._containers):
            gap = 1
        self._apart = False
        self._line = end
        return "".join(line + "\n" for line in self._lines[start:end]), gap

    @property
    def _role(self) -> str:
        return "quote-text" if any(each.role == "quote" for each in self._containers) else "text"

    def _prose(self, token: Token, content: str) -> None:
        text, gap = self._take(token)
        role = self._role if token.type == "paragraph_open" else "title" if token.tag in ("h1", "h2") else "heading"
        lead = self._lead()
        self._pieces.append(Prose(text, content, role=role, lead=lead, gap=gap, references=self._references))

    def _code(self, token: Token) -> None:
        text, gap = self._take(token)
        opening = closing = ""
        if token.type == "fence":
            opening, *others = text.splitlines(keepends=True)
            closing = others[-1] if len(others) > token.content.count("\n") else ""
        lead = self._lead()
        self._pieces += code_pieces(token.content, token.info, lead=lead, gap=gap, opening=opening, closing=closing)

    def _table(self, tokens: list[Token], at: int) -> int:
        text, gap = self._take(tokens[at])
        table: list[list[str]] = []
        aligns: list[str] = []
        while tokens[at].type != "table_close":
            token = tokens[at]
            if token.type == "tr_open":
                table.append([])
            elif token.type in ("th_open", "td_open"):
                table[-1].append(tokens[at + 1].content)
                if token.type == "th_open":
                    aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
            at += 1
        lines = text.splitlines(keepends=True)
        for row, line in zip(table[1:], lines[2:], strict=False):
            _put_back(row, line)
        shape = Shape(table, aligns, self._references)
        lead = self._lead()
        names = table[0]
        self._pieces.append(TableRows("".join(lines[:2]), table[:1], shape, head=True, names=names, lead=lead, gap=gap))
        rest = Lead(lead.rest, lead.rest)
        for start in range(1, len(table), ROWS):
            source = "".join(lines[start + 1 : start + 1 + ROWS])
            self._pieces.append(TableRows(source, table[start : start + ROWS], shape, names=names, lead=rest))
        return at


def _put_back(row: list[str], line: str) -> None:
    """Markdown drops the cells of a row that has more than the table's head; here they stay, in the last one."""
    cells = [cell.strip() for cell in _PIPE.split(line.strip().strip("|"))]
    if row and len(cells) > len(row):
        row[-1] = " | ".join([row[-1], *cells[len(row) :]])
