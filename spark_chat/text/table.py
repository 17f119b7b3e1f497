"""Tables that fit: columns share the width, cells wrap, one rule under the head. Drawn some rows at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich.segment import Segment

from spark_chat.text.clean import printable
from spark_chat.text.inline import inline_runs
from spark_chat.text.palette import STRONG, Palette
from spark_chat.text.row import NO_LEAD, Lead, Row, Run, lay
from spark_chat.text.wrap import cells as cells_of

ROWS = 16
"""Table rows of one piece."""
GAP = 2
NARROWEST = 3
"""Cells of a column, as long as there is room for that."""
_MARKUP = re.compile(r"[*_`~\\\[\]<!&]")


class Shape:
    """The columns of one table: natural widths in cells, alignments, and how they share a given width."""

    def __init__(
        self, cells: Sequence[Sequence[str]], aligns: Sequence[str], references: dict[str, Any] | None
    ) -> None:
        self.aligns = list(aligns)
        self.references = references
        self.natural = [1] * len(self.aligns)
        for row in cells:
            for column, cell in enumerate(row[: len(self.natural)]):
                size = len(cell) if cell.isascii() else cells_of(printable(cell))
                if size > self.natural[column]:
                    if _MARKUP.search(cell):
                        size = cells_of("".join(text for text, _ in self.runs(cell)))
                    self.natural[column] = max(self.natural[column], size)

    def runs(self, cell: str) -> list[Run]:
        """A cell's inline runs."""
        return inline_runs(cell, self.references) if _MARKUP.search(cell) else [(printable(cell), 0)]

    def widths(self, width: int) -> list[int] | None:
        """Cells for each column, or None where they do not fit side by side."""
        room = width - GAP * (len(self.natural) - 1)
        if sum(self.natural) <= room:
            return self.natural
        if room < NARROWEST * len(self.natural):
            return None
        widths = [0] * len(self.natural)
        order = sorted(range(len(self.natural)), key=self.natural.__getitem__)
        left = len(order)
        for column in order:
            widths[column] = max(NARROWEST, min(self.natural[column], room // left))
            room -= widths[column]
            left -= 1
        return widths


class TableRows:
    """Some rows of a table; the head has a rule under it. Too narrow for columns: one cell a line, by name."""

    def __init__(
        self, source: str, cells: Sequence[Sequence[str]], shape: Shape, *, head: bool = False,
        names: Sequence[str] = (), lead: Lead = NO_LEAD, gap: int = 0,
    ) -> None:  # fmt: skip
        self.source, self.cells, self.shape, self.head, self.names = source, cells, shape, head, names
        self.lead, self.gap = lead, gap

    def estimate(self, width: int) -> int:
        widths = self.shape.widths(max(1, width - self.lead.width))
        if widths is None:
            return max(1, len(self.cells) * len(self.shape.natural))
        return len(self.cells) + self.head

    def rows(self, width: int, palette: Palette) -> list[Row]:
        lead = self.lead.fitting(width)
        widths = self.shape.widths(max(1, width - lead.width))
        if palette.plain:
            return self._read_out(width, palette)
        if widths is None:
            return self._stacked(width, palette)
        rows: list[Row] = []
        for cells in self.cells:
            rows += self._side_by_side(cells, widths, lead, palette)
        if self.head:
            dash, space = palette.style("rule"), Segment(" " * GAP, palette.style("text"))
            segments = [part for size in widths for part in (Segment("─" * size, dash), space)]
            rows.append(self._row(segments[:-1], lead, palette))
        return rows

    def refers(self) -> bool:
        """Whether a cell may hold a reference."""
        return any("[" in cell for row in self.cells for cell in row)

    def _row(self, segments: list[Segment], lead: Lead, palette: Palette, first: bool = False) -> Row:
        head = [Segment(text, palette.style(role)) for text, role in (lead.first if first else lead.rest)]
        width = sum(part.cell_length for part in (*head, *segments))
        return Row([*head, *segments], width, sum(len(part.text) for part in head))

    def _side_by_side(self, cells: Sequence[str], widths: list[int], lead: Lead, palette: Palette) -> list[Row]:
        base = STRONG if self.head else 0
        role = "table-head" if self.head else "text"
        columns = []
        for cell, size in zip(cells, widths, strict=False):
            runs = [(text, bits | base) for text, bits in self.shape.runs(cell)]
            columns.append(lay(runs, size, lambda bits: palette.inline(role, bits), NO_LEAD, palette.style))
        rows: list[Row] = []
        for at in range(max((len(column) for column in columns), default=1)):
            segments: list[Segment] = []
            for index, size in enumerate(widths):
                row = columns[index][at] if index < len(columns) and at < len(columns[index]) else Row([], 0)
                left = max(0, size - row.width)
                before = left if self.shape.aligns[index] == "right" else 0
                before = left // 2 if self.shape.aligns[index] == "center" else before
                after = left - before + (GAP if index < len(widths) - 1 else 0)
                if before:
                    segments.append(Segment(" " * before, palette.style("text")))
                segments += row.segments
                if after and index < len(widths) - 1:
                    segments.append(Segment(" " * after, palette.style("text")))
            rows.append(self._row(segments, lead, palette, first=self.head and not rows))
        return rows

    def _read_out(self, width: int, palette: Palette) -> list[Row]:
        """In reading order: the names of the columns, then for each row its cells, each with its column's name."""
        if self.head:
            runs: list[Run] = [("Table: ", 0), *_joined([self.shape.runs(name) for name in self.names], ", ")]
            return lay(runs, width, lambda bits: palette.inline("table-head", bits), self.lead, palette.style)
        rows: list[Row] = []
        for cells in self.cells:
            named = []
            for index, cell in enumerate(cells):
                name = self.shape.runs(self.names[index]) if index < len(self.names) else []
                named.append([*name, *([(": ", 0)] if name else []), *self.shape.runs(cell)])
            rows += lay(
                _joined(named, "; "), width, lambda bits: palette.inline("text", bits), self.lead, palette.style
            )
        return rows

    def _stacked(self, width: int, palette: Palette) -> list[Row]:
        if self.head:
            runs: list[Run] = [(" · ".join(self.names), STRONG)]
            return lay(runs, width, lambda bits: palette.inline("table-head", bits), self.lead, palette.style)
        rows: list[Row] = []
        for cells in self.cells:
            for index, cell in enumerate(cells):
                mark = "• " if index == 0 else "  "
                lead = Lead((*self.lead.rest, (mark, "marker")), (*self.lead.rest, ("  ", "marker")))
                rows += lay(
                    self.shape.runs(cell), width, lambda bits: palette.inline("text", bits), lead, palette.style
                )
        return rows


def _joined(parts: list[list[Run]], separator: str) -> list[Run]:
    """Runs one after the other."""
    return [run for index, part in enumerate(parts) for run in ([(separator, 0)] if index else []) + part]
