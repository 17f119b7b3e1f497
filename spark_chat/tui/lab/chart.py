"""tok/s and accept length over one answer, as two sparklines: one sees prose slow down where code was fast."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Sparkline

from spark_chat.meters import units
from spark_chat.tui.plain import Plain

POINTS = 240
"""Kept for each line; of a longer answer two neighbours become one."""


class Course:
    """The values of one figure over an answer, at most POINTS of them, however long it takes."""

    def __init__(self) -> None:
        self.points: list[float] = []
        self._every, self._held = 1, list[float]()

    def add(self, value: float | None) -> None:
        if value is None:
            return
        self._held.append(value)
        if len(self._held) < self._every:
            return
        self.points.append(sum(self._held) / len(self._held))
        self._held.clear()
        if len(self.points) >= POINTS:
            self.points = [sum(self.points[at : at + 2]) / 2 for at in range(0, POINTS, 2)]
            self._every *= 2

    def clear(self) -> None:
        self.points, self._every, self._held = [], 1, []


class Chart(Vertical):
    """Feed it while an answer runs; `clear` before the next one."""

    DEFAULT_CSS = """
    Chart { height: 2; padding: 0 2; }
    Chart Horizontal { height: 1; }
    Chart Plain { width: 26; height: 1; color: $text-muted; }
    Chart Sparkline { width: 1fr; height: 1; }
    Chart Sparkline > .sparkline--max-color { color: $accent; }
    Chart Sparkline > .sparkline--min-color { color: $accent 60%; }
    """

    def __init__(self, *, id: str = "chart") -> None:
        super().__init__(id=id)
        self._courses = (Course(), Course())

    def compose(self) -> ComposeResult:
        for name, title in (("speed", "tok/s"), ("accept", "accept")):
            with Horizontal():
                yield Plain(f"{title:<7}{units.NONE}", id=f"chart-{name}-text")
                yield Sparkline([], id=f"chart-{name}")

    def on_mount(self) -> None:
        self._show()

    def add(self, tok_s: float | None, accept: float | None) -> None:
        """The live figures now."""
        for course, value in zip(self._courses, (tok_s, accept), strict=True):
            course.add(value)
        self._show()

    def clear(self) -> None:
        """An answer begins."""
        for course in self._courses:
            course.clear()
        self._show()

    def _show(self) -> None:
        if not self.is_mounted:
            return
        shown = (("speed", "tok/s", units.rate), ("accept", "accept", units.accept))
        for course, (name, title, said) in zip(self._courses, shown, strict=True):
            points = course.points
            span = f"{said(min(points))} to {said(max(points))}" if points else units.NONE
            self.query_one(f"#chart-{name}-text", Plain).show(f"{title:<7}{span}")
            # From zero up, so that a line's height is its value and not its place between lowest and highest.
            self.query_one(f"#chart-{name}", Sparkline).data = [0.0, *points] if points else []
