"""Rows to strips, each made once: a strip that is the same object as before needs no painting."""

from __future__ import annotations

from rich.segment import Segment
from textual.selection import Selection
from textual.strip import Strip

from spark_chat.text.palette import Palette
from spark_chat.tui.transcript import drawing
from spark_chat.tui.transcript.document import Document

BLANKS = 500
"""Strips of blank lines and labels that are kept."""


class Painter:
    """Paints lines of `width` cells. Strips live with their rows; those of blank lines live here."""

    def __init__(self) -> None:
        self._blanks: dict[tuple[object, ...], Strip] = {}
        self._marked: tuple[Strip, Strip] | None = None

    def line(self, document: Document, at: int, width: int, selection: Selection | None) -> Strip:
        """The document's row `at`."""
        palette = document.palette
        place = document.place(at) if at < document.height else None
        if place is None:
            return Strip.blank(width, palette.style("text"))
        row = document.row(place)
        number = drawing.line_number(place.entry, place.row)
        gutter = drawing.gutter_width(width)
        entry = document.entries[place.entry]
        above = document.labelled and place.slot is None and place.row == document.above(place.entry) - 1
        beside = not document.labelled and place.slot == 0 and place.inside == 0
        named = entry.label if above or beside else ""
        marked = document.chosen is entry and place.row >= (place.entry > 0)
        key = (number, width, palette, named, entry.role if named else "", marked)
        strip = self._made(row, key)
        if strip is None:
            if named:
                head = drawing.label(named, entry.role, width if above else gutter, palette)
            else:
                head = [Segment(" " * gutter, palette.style("text"))]
            strip = drawing.draw(row, head, width, number, palette)
            if marked:
                strip = drawing.chosen(strip, document.mark, palette)
            self._keep(row, key, strip)
        if selection is not None:
            strip = drawing.select(strip, row, gutter, number, selection, palette.style("selection"))
        return strip

    def with_mark(self, strip: Strip, width: int, palette: Palette) -> Strip:
        """`strip`, the last line of the screen, with the mark that there is more below."""
        if self._marked is None or self._marked[0] is not strip:
            self._marked = strip, drawing.overlay(strip, width, palette)
        return self._marked[1]

    def _made(self, row: object, key: tuple[object, ...]) -> Strip | None:
        if row is None:
            return self._blanks.get(key)
        drawn = getattr(row, "drawn", None)
        return drawn[1] if drawn is not None and drawn[0] == key else None

    def _keep(self, row: object, key: tuple[object, ...], strip: Strip) -> None:
        if row is not None:
            row.drawn = (key, strip)  # type: ignore[attr-defined]
            return
        if len(self._blanks) >= BLANKS:
            self._blanks.clear()
        self._blanks[key] = strip


def changed(before: list[Strip], after: list[Strip]) -> list[tuple[int, int]]:
    """Which lines are others than before: (first, count), in order."""
    spans: list[tuple[int, int]] = []
    for y, strip in enumerate(after):
        if y < len(before) and before[y] is strip:
            continue
        if spans and sum(spans[-1]) == y:
            spans[-1] = (spans[-1][0], spans[-1][1] + 1)
        else:
            spans.append((y, 1))
    return spans
