"""One row of the screen: styled text, without the gutter, and how it goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style

from spark_chat.text.wrap import cells, wrap

Run = tuple[str, int]
"""Text and its bits of inline markup (palette.STRONG and so on)."""


@dataclass(slots=True)
class Row:
    """`lead`: characters at the start that are ours (a bullet, a quote's bar); `fill`: such at the end. `join`: what
    stands between this row and the next in the text: "\\n" a line's end, " " a space that wrapping took, "" a cut.
    `width` in cells."""

    segments: list[Segment]
    width: int
    lead: int = 0
    fill: int = 0
    join: str = "\n"
    drawn: tuple[object, object] | None = None
    """Room for who draws it to keep what it made, with the key it was made for."""

    @property
    def text(self) -> str:
        """All of the row, lead included."""
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Lead:
    """What stands before a piece's rows: the first one's has the bullet or number. Parts are (text, role)."""

    first: tuple[tuple[str, str], ...] = ()
    rest: tuple[tuple[str, str], ...] = ()

    @property
    def width(self) -> int:
        """Cells."""
        return sum(cells(text) for text, _ in self.rest)

    def fitting(self, width: int) -> Lead:
        """Itself, or its innermost part alone where it would take more than half of `width` cells."""
        if self.width * 2 <= width:
            return self
        first = tuple(part for part in self.first[-1:] if cells(part[0]) * 2 <= width)
        return Lead(first, tuple((" " * cells(text), role) for text, role in first))


NO_LEAD = Lead()


def lay(
    runs: Sequence[Run], width: int, style: Callable[[int], Style], lead: Lead, mark: Callable[[str], Style]
) -> list[Row]:
    """Wrap `runs` to `width` cells. `style` by inline bits; `mark` by role, for the lead."""
    lead = lead.fitting(width)
    first = [Segment(text, mark(role)) for text, role in lead.first]
    rest = [Segment(text, mark(role)) for text, role in lead.rest]
    lead_width = lead.width
    room = max(1, width - lead_width)
    rows: list[Row] = []
    for line in _lines(runs):
        plain = "".join(text for text, _ in line)
        for start, end, join in wrap(plain, room):
            head = rest if rows else first
            segments = [*head, *_slice(line, start, end, style)]
            used = cells(plain[start:end])
            rows.append(Row(segments, lead_width + used, sum(len(part.text) for part in head), join=join))
    return rows


def _lines(runs: Sequence[Run]) -> list[list[Run]]:
    lines: list[list[Run]] = [[]]
    for text, bits in runs:
        parts = text.split("\n")
        if parts[0]:
            lines[-1].append((parts[0], bits))
        for part in parts[1:]:
            lines.append([(part, bits)] if part else [])
    return lines


def _slice(line: Sequence[Run], start: int, end: int, style: Callable[[int], Style]) -> list[Segment]:
    segments = []
    at = 0
    for text, bits in line:
        if at >= end:
            break
        part = text[max(0, start - at) : end - at]
        if part:
            segments.append(Segment(part, style(bits)))
        at += len(text)
    return segments
