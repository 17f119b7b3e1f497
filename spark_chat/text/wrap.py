"""Where a line of text breaks to fit a width in terminal cells.

Greedy, at spaces where there are any and after wide characters; a word longer than the line is cut. A grapheme is
never cut. What comes later in the text never changes a row but the last two, so a growing line needs only its end
wrapped again.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, split_graphemes

_NARROW = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u2010-\u2027\u2030-\u205e\u2070-\u209c\u20a0-\u20bf\u2100-\u218b"
    "\u2190-\u2319\u2400-\u2426\u2500-\u25fc]*"
).fullmatch
"""Characters that are one cell each, whatever is beside them."""

Span = tuple[int, int, str]
"""Start and end in the text, and what the break stood for: "" a cut, " " a space that the break took."""


def cells(text: str) -> int:
    """Cells that `text` takes."""
    return len(text) if _NARROW(text) else cell_len(text)


def wrap(text: str, width: int) -> list[Span]:
    """Rows of `text`, which has no newline; always at least one. The last one's third part is "\\n"."""
    width = max(1, width)
    if _NARROW(text):
        return _wrap_narrow(text, width)
    return _wrap_graphemes(text, width)


def _wrap_narrow(text: str, width: int) -> list[Span]:
    """Every character is a cell: only string searches."""
    rows: list[Span] = []
    start, length = 0, len(text)
    while length - start > width:
        cut = text.rfind(" ", start, start + width + 1)
        if cut <= start or text[start:cut].isspace():
            cut = start + width
            if text[cut] == " ":
                rows.append((start, cut, " "))
                cut += 1
            else:
                rows.append((start, cut, ""))
            start = cut
            continue
        rows.append((start, cut, " "))
        start = cut + 1
    rows.append((start, length, "\n"))
    return rows


def _wrap_graphemes(text: str, width: int) -> list[Span]:
    rows: list[Span] = []
    start = used = 0
    chance: tuple[int, int, str, int] | None = None  # the row's end, the next one's start, the join, cells up to there
    for begin, end, size in split_graphemes(text)[0]:
        space = text[begin:end] == " "
        taken = False
        while used + size > width and begin > start and not taken:
            if space:
                rows.append((start, begin, " "))
                start, used, taken = end, 0, True
            elif chance is not None:
                rows.append((start, chance[0], chance[2]))
                start, used = chance[1], used - chance[3]
            else:
                rows.append((start, begin, ""))
                start, used = begin, 0
            chance = None
        if taken:
            continue
        used += size
        if space:
            if begin > start and not text[start:begin].isspace():
                chance = begin, end, " ", used
        elif size == 2:
            chance = end, end, "", used
    rows.append((start, len(text), "\n"))
    return rows
