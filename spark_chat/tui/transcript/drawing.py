"""A row with its gutter as a strip that knows where its text is, for selecting, and the mark of what is below."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from spark_chat.text.palette import Palette
from spark_chat.text.row import Row

GUTTER = 10
"""Cells of the column with the labels."""
NARROW = 60
"""Below this many cells labels stand on lines of their own, and the gutter shrinks."""
NARROW_GUTTER = 2
RIGHT = 2
"""Cells kept free at the right."""
MORE = " ↓ more below (end) "
_ENTRY = 24
"""Bits of a row's number inside its entry."""


def gutter_width(width: int) -> int:
    """Cells before the text, in a widget of `width` cells."""
    return GUTTER if width >= NARROW else NARROW_GUTTER


def line_number(entry: int, row: int) -> int:
    """A number for a row that stays the same when entries above are measured anew, and grows downwards."""
    return (entry << _ENTRY) + row


def entry_and_row(number: int) -> tuple[int, int]:
    """What `line_number` was made from."""
    return number >> _ENTRY, number & ((1 << _ENTRY) - 1)


def label(text: str, role: str, gutter: int, palette: Palette) -> list[Segment]:
    """The gutter of an entry's first row."""
    room = max(0, gutter - 3)
    while cell_len(text) > room:
        text = text[:-2] + "…" if len(text) > 1 else ""
    rest = gutter - 2 - cell_len(text)
    plain = palette.style("text")
    return [Segment("  ", plain), Segment(text, palette.style(role)), Segment(" " * rest, plain)]


def draw(row: Row | None, gutter: list[Segment], width: int, number: int, palette: Palette) -> Strip:
    """A strip of `width` cells. Its text has offsets from 0 on; the gutter's are negative."""
    plain = palette.style("text")
    body = [] if row is None else row.segments
    if row is not None and row.lead and palette.plain:
        body = _spoken(row)
    used = sum(part.cell_length for part in gutter) + (0 if row is None else row.width)
    fill = [Segment(" " * (width - used), plain)] if used < width else []
    strip = Strip([*gutter, *body, *fill], max(used, width))
    return strip.apply_offsets(-sum(len(part.text) for part in gutter), number).crop(0, width)


_SPOKEN = str.maketrans({"▌": ">", "│": " ", "•": "*"})


def _spoken(row: Row) -> list[Segment]:
    """The row with its lead in signs that are read aloud or passed over, each as wide as before."""
    left, segments = row.lead, []
    for text, style, control in row.segments:
        ours, rest = text[: max(0, left)], text[max(0, left) :]
        left -= len(ours)
        segments.append(Segment(ours.translate(_SPOKEN) + rest, style, control))
    return segments


def select(strip: Strip, row: Row | None, gutter: int, number: int, selection: Selection, style: Style) -> Strip:
    """`strip` with the selected part of its text marked."""
    span = selection.get_span(number)
    if span is None or row is None:
        return strip
    text = row.text
    start = max(0, span[0])
    end = len(text) if span[1] == -1 else min(len(text), max(0, span[1]))
    left, right = gutter + cell_len(text[:start]), gutter + cell_len(text[:end])
    if right <= left:
        return strip
    parts = [strip.crop(0, left), strip.crop(left, right), strip.crop(right)]
    marked = Strip(Segment.apply_style(parts[1], post_style=style), parts[1].cell_length)
    return Strip.join([parts[0], marked, parts[2]])


def chosen(strip: Strip, mark: str, palette: Palette) -> Strip:
    """`strip` as a row of the entry that was chosen: its first cell says so."""
    return Strip.join([Strip([Segment(mark, palette.style("title"))], 1), strip.crop(1)])


def overlay(strip: Strip, width: int, palette: Palette) -> Strip:
    """`strip` with the mark that there is more below at its right end."""
    text = MORE if width >= 40 else " ↓ "
    size = cell_len(text)
    if size >= width:
        return strip
    return Strip.join([strip.crop(0, width - size - 1), Strip([Segment(text, palette.style("more"))], size),
                       strip.crop(width - 1)])  # fmt: skip
