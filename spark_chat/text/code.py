"""Code: a label line with the language, then lines on a ground of their own, coloured bit by bit.

Lexing 16k characters takes 150 ms, so it goes in slices: rows are drawn plain until their colours are known, and
never change height.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

from rich.segment import Segment

from spark_chat.text.lexers import lexer_for
from spark_chat.text.palette import Palette
from spark_chat.text.piece import rows_of, shown
from spark_chat.text.row import NO_LEAD, Lead, Row
from spark_chat.text.wrap import cells, wrap

LINES = 32
"""Lines of one piece."""
LONGEST_CODE = 400_000
LONGEST_LINE = 4_000
"""Characters; beyond, a lexer's regular expressions may take seconds on what is rarely code."""
LONGEST_LABEL = 200
"""Characters of what stands after a fence that are looked at; the line it is shown on is cut to the width."""

_ROLES = (
    ("Token.Comment", "comment"), ("Token.Keyword.Type", "type"), ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"), ("Token.Literal.String", "string"), ("Token.Literal.Number", "number"),
    ("Token.Name.Function", "name"), ("Token.Name.Class", "type"), ("Token.Name.Decorator", "name"),
    ("Token.Name.Builtin", "builtin"), ("Token.Name.Tag", "keyword"), ("Token.Name.Attribute", "builtin"),
    ("Token.Generic.Deleted", "error"), ("Token.Generic.Inserted", "success"), ("Token.Generic.Heading", "heading"),
    ("Token.Generic.Subheading", "muted"), ("Token.Generic.Prompt", "muted"),
)  # fmt: skip
_role_of: dict[Any, str] = {}


def _role(kind: Any) -> str:
    if (role := _role_of.get(kind)) is None:
        name = str(kind)
        role = next((role for prefix, role in _ROLES if name.startswith(prefix)), "code")
        _role_of[kind] = role
    return role


class Colours:
    """The roles of a code block's characters, line by line, found as `advance` is called."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._code = ""
        self._tokens: Iterator[tuple[int, Any, str]] | None = None
        self._lines: list[list[tuple[str, str]]] = []
        self._open: list[tuple[str, str]] = []
        self.done = True

    @property
    def known(self) -> int:
        """Lines whose colours are known."""
        return len(self._lines)

    def start(self, code: str) -> None:
        """All of the code is here."""
        if len(code) > LONGEST_CODE or not self._language or max(map(len, code.split("\n"))) > LONGEST_LINE:
            return
        self._code = code
        self.done = False

    @property
    def waiting(self) -> bool:
        """The lexer is not loaded yet."""
        return not self.done and self._tokens is None and not lexer_for(self._language).ready

    def advance(self, deadline: float) -> None:
        """Lex on until `deadline`, in seconds of perf_counter. Returns at once while the lexer is being loaded."""
        if self.done:
            return
        if self._tokens is None:
            loading = lexer_for(self._language)
            if not loading.ready:
                return
            if loading.lexer is None:
                self.done = True
                return
            self._tokens = iter(loading.lexer.get_tokens_unprocessed(self._code))
        while not self.done:
            try:
                for _ in range(16):
                    _, kind, value = next(self._tokens)
                    role = _role(kind)
                    first, *others = value.split("\n")
                    self._open.append((first, role))
                    for other in others:
                        self._lines.append(self._open)
                        self._open = [(other, role)]
            except StopIteration:
                self._lines.append(self._open)
                self.done = True
            except Exception:  # a lexer's defect costs colour and nothing else
                self.done = True
            if perf_counter() >= deadline:
                break

    def line(self, index: int, text: str) -> list[tuple[str, str]]:
        """Runs (text, role) of line `index`, whose text is `text`."""
        if index < len(self._lines):
            runs = self._lines[index]
            if "".join(part for part, _ in runs) == text:
                return runs
        return [(text, "code")]


class CodeHead:
    """The line above code that names its language."""

    def __init__(self, source: str, info: str, *, lead: Lead = NO_LEAD, gap: int = 0) -> None:
        self.source, self.info, self.lead, self.gap = source, info, lead, gap

    def estimate(self, width: int) -> int:
        return 1

    def rows(self, width: int, palette: Palette) -> list[Row]:
        room = max(1, width - self.lead.fitting(width).width)
        label = shown(self.info.strip()[:LONGEST_LABEL])
        while label and cells(label) > room - 4:
            label = label[:-1]
        return [_code_row([(label or "code", "code-label")], room, width, self.lead, True, palette)]


class CodeLines:
    """Some lines of a code block, from line `first` of it. Grows while the block is open."""

    def __init__(self, source: str, first: int, colours: Colours, *, lead: Lead = NO_LEAD, gap: int = 0) -> None:
        self.source, self.first, self.colours, self.lead, self.gap = source, first, colours, lead, gap
        self.closing = ""
        """The fence below, on the last piece of a block."""

    @property
    def version(self) -> int:
        """Grows as colours of its lines become known."""
        return min(self.colours.known, self.first + LINES) if self.colours.known > self.first else 0

    def estimate(self, width: int) -> int:
        return rows_of(self.source, width - self.lead.width - 3)

    def rows(self, width: int, palette: Palette) -> list[Row]:
        lead = self.lead.fitting(width)
        room = max(1, width - lead.width)
        inner = max(1, room - 3)
        rows = []
        for number, line in enumerate(self.source.removesuffix("\n").split("\n"), self.first):
            line = shown(line)
            runs = self.colours.line(number, line)
            for start, end, join in wrap(line, inner):
                row = _code_row(_cut(runs, start, end), room, width, lead, False, palette)
                row.join = join
                rows.append(row)
        return rows


def _cut(runs: list[tuple[str, str]], start: int, end: int) -> list[tuple[str, str]]:
    found, at = [], 0
    for text, role in runs:
        if part := text[max(0, start - at) : max(0, end - at)]:
            found.append((part, role))
        at += len(text)
    return found


def _code_row(runs: list[tuple[str, str]], room: int, width: int, lead: Lead, first: bool, palette: Palette) -> Row:
    lead = lead.fitting(width)
    head = [Segment(text, palette.style(role)) for text, role in (lead.first if first else lead.rest)]
    ground = palette.style("code")
    bar = Segment(palette.code_bar, ground + palette.style("code-bar"))
    body = [Segment(text, ground + palette.style(role)) for text, role in runs]
    used = len(palette.code_bar) + sum(cells(text) for text, _ in runs)
    fill = [Segment(" " * (room - used), ground)] if used < room else []
    ours = sum(len(part.text) for part in head) + len(palette.code_bar)
    return Row([*head, bar, *body, *fill], lead.width + max(used, room), ours, max(0, room - used))


def language_of(info: str) -> str:
    """The language in what stands after a fence: "python" in "Python {linenos=1}" and in "{.python}"."""
    words = info.replace("{", " ").replace("}", " ").split()
    return words[0][:40].strip(".,:").lower() if words else ""


def code_pieces(
    code: str, info: str, *, lead: Lead = NO_LEAD, gap: int = 0, opening: str = "", closing: str = ""
) -> list[CodeHead | CodeLines]:
    """A block's pieces. `code` is what stands between the fences `opening` and `closing`, `info` what stands after the
    first one's marks."""
    head = CodeHead(opening, info, lead=lead, gap=gap)
    if not code:
        head.source += closing
        return [head]
    pieces = code_lines(code, info, lead=Lead(lead.rest, lead.rest))
    pieces[-1].closing = closing
    return [head, *pieces]


def code_lines(code: str, info: str, *, lead: Lead = NO_LEAD) -> list[CodeLines]:
    """Pieces of lines alone, at least one."""
    colours = Colours(language_of(info))
    lines = code.removesuffix("\n").split("\n")
    starts = range(0, len(lines), LINES)
    pieces = [CodeLines("\n".join(lines[at : at + LINES]) + "\n", at, colours, lead=lead) for at in starts]
    colours.start("\n".join(map(shown, lines)))
    return pieces


class CodeEnd:
    """A closing fence by itself: it takes no row."""

    gap = 0

    def __init__(self, source: str) -> None:
        self.source = source

    def estimate(self, width: int) -> int:
        return 0

    def rows(self, width: int, palette: Palette) -> list[Row]:
        return []


def more_code(code: str, info: str, ended: bool) -> list[CodeLines | CodeEnd]:
    """Pieces of a fence that goes on from a block before. `ended`: the last line is the closing one."""
    if not ended:
        return [*code_lines(code, info)]
    at = code.rfind("\n", 0, len(code) - 1) + 1
    lines = code_lines(code[:at], info) if at else []
    return [*lines, CodeEnd(code[at:])]
