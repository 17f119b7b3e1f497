"""A piece: the smallest part of a transcript that is laid out by itself, of some tens of rows at most."""

from __future__ import annotations

from typing import Any, Protocol

from rich.segment import Segment

from spark_chat.text.clean import calm, clean
from spark_chat.text.inline import inline_runs
from spark_chat.text.palette import Palette
from spark_chat.text.row import NO_LEAD, Lead, Row, Run, lay

BETWEEN, HELD = " · ", "\N{NO-BREAK SPACE}"


class Piece(Protocol):
    """`gap`: blank rows before it. `source`: the text that it shows, for copying."""

    gap: int
    source: str

    def estimate(self, width: int) -> int:
        """About how many rows at `width` cells, without laying it out."""
        ...

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """Its rows at `width` cells, at least one. How many there are never depends on the palette."""
        ...


def rows_of(text: str, width: int) -> int:
    """An estimate: lines, and what wraps."""
    return max(1, text.count("\n") + len(text) // max(1, width) + (not text.endswith("\n")))


class Prose:
    """A paragraph, a heading or a list item's text: inline Markdown."""

    def __init__(
        self, source: str, content: str, *, role: str = "text", lead: Lead = NO_LEAD, gap: int = 0,
        references: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.source, self.content, self.role, self.lead, self.gap = source, content, role, lead, gap
        self._references = references
        self._runs: list[Run] | None = None

    def estimate(self, width: int) -> int:
        return rows_of(self.content, width - self.lead.width)

    def refers(self) -> bool:
        """Whether it may hold a reference; what was parsed of it is forgotten then."""
        if "[" not in self.content:
            return False
        self._runs = None
        return True

    def rows(self, width: int, palette: Palette) -> list[Row]:
        if self._runs is None:
            self._runs = inline_runs(self.content, self._references)
        return lay(self._runs, width, lambda bits: palette.inline(self.role, bits), self.lead, palette.style)


class Rule:
    """A thematic break."""

    def __init__(self, source: str, *, lead: Lead = NO_LEAD, gap: int = 0) -> None:
        self.source, self.lead, self.gap = source, lead, gap

    def estimate(self, width: int) -> int:
        return 1

    def rows(self, width: int, palette: Palette) -> list[Row]:
        room = max(1, min(width - self.lead.width, 40))
        return lay(
            [(("-" if palette.plain else "─") * room, 0)],
            width,
            lambda bits: palette.style("rule"),
            self.lead,
            palette.style,
        )


class Plain:
    """Text as it is, no markup: prompts, notices, reasoning, and an answer's open block. It may grow, and it is cleaned
    only where it is drawn: a prompt of megabytes costs what is seen of it."""

    def __init__(self, source: str, *, role: str = "text", lead: Lead = NO_LEAD, gap: int = 0) -> None:
        self.source, self.role, self.lead, self.gap = source, role, lead, gap
        self.join = "\n"
        """What stands between its last row and the next piece."""

    def estimate(self, width: int) -> int:
        return rows_of(self.source, width - self.lead.width)

    def rows(self, width: int, palette: Palette) -> list[Row]:
        runs = [(shown(clean(self.source.removesuffix("\n"))), 0)]
        rows = lay(runs, width, lambda bits: palette.style(self.role), self.lead, palette.style)
        rows[-1].join = self.join
        return rows


class Figures(Plain):
    """Parts with " · " between them, such as a number and its unit: broken between parts, not inside of one that fits
    into a row."""

    def rows(self, width: int, palette: Palette) -> list[Row]:
        room = max(1, width - self.lead.fitting(width).width)
        parts = shown(clean(self.source)).split(BETWEEN)
        held = [part.replace(" ", HELD) if len(part) + 2 <= room else part for part in parts]
        runs = [(f"{HELD}· ".join(held), 0)]
        rows = lay(runs, width, lambda bits: palette.style(self.role), self.lead, palette.style)
        for row in rows:
            row.segments = [Segment(part.text.replace(HELD, " "), part.style) for part in row.segments]
        rows[-1].join = self.join
        return rows


def shown(line: str) -> str:
    """Tabs and carriage returns at a line's end, which are no picture of their own, as they are drawn."""
    line = line.replace("\N{SYMBOL FOR CARRIAGE RETURN}\n", "\n").removesuffix("\N{SYMBOL FOR CARRIAGE RETURN}")
    return calm(line.expandtabs(4) if "\t" in line else line)
