"""The panel at the side: all meters in a column, and the course of the answer under them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget

from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.meters import units
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.tui.lab.chart import Chart
from spark_chat.tui.plain import one_line
from spark_chat.tui.widgets.meters import Readings

WIDTH = 34
"""Cells of the panel, its line and its gaps included."""
OPENS_FROM = 140
"""Columns of a terminal from which it opens by itself, where the settings say auto."""
FITS_FROM = 80
"""Columns under which it has no room."""

Rows = list[tuple[str, str]]


def panel_rows(readings: Readings, numbers: AnswerNumbers | None, snapshot: Snapshot) -> Iterator[tuple[str, Rows]]:
    """(title, rows of name and figure) of each part; a figure that is not known reads "-"."""
    found = numbers or AnswerNumbers()
    yield (
        "This answer" if found.finish is None and found.tokens else "Last answer",
        [
            ("tok/s", units.rate(readings.tok_s)),
            ("TPOT", units.milliseconds(found.tpot_ms)),
            ("TTFT", units.seconds(found.ttft_s)),
            ("prefill", f"{units.rate(found.prefill_tok_s)} tok/s"),
            ("accept", units.accept(readings.accept)),
            ("verify steps", units.count(found.verify_steps)),
            ("tokens", units.count(found.tokens if numbers else None)),
            ("of them thought", units.count(found.reasoning_tokens if numbers else None)),
            ("prompt", units.count(found.prompt_tokens)),
            ("of it cached", units.count(found.cached_tokens)),
        ],
    )
    share = ""
    if readings.context and readings.context_used is not None:
        share = f"{units.count(readings.context_used)} / {units.count(readings.context)}"
    engine = [("context", share or units.NONE), ("memory", units.size(readings.memory))]
    if readings.gpu is not None:
        engine.append(("GPU memory", units.size(readings.gpu)))
    ready = snapshot.ready_s if snapshot.phase is Phase.READY else None
    engine += [("queue", str(readings.queue)), ("turns", str(snapshot.turns)), ("ready after", units.seconds(ready))]
    yield "Engine", engine


def panel_text(readings: Readings, numbers: AnswerNumbers | None, snapshot: Snapshot, width: int) -> Content:
    """The panel's text in `width` cells: names left, figures right."""
    lines: list[Content] = []
    for title, rows in panel_rows(readings, numbers, snapshot):
        if lines:
            lines.append(Content(""))
        lines.append(Content.styled(title, "bold $text-primary"))
        for name, figure in rows:
            said = one_line(figure)
            gap = " " * max(1, width - len(name) - cell_len(said))
            lines.append(Content.assemble((name, "$text-muted"), gap, (said, "bold")))
    return Content("\n").join(lines)


class PanelText(Widget):
    """The text of the panel."""

    DEFAULT_CSS = "PanelText { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Readings, AnswerNumbers | None, Snapshot] = (Readings(), None, Snapshot())

    def show(self, readings: Readings, numbers: AnswerNumbers | None, snapshot: Snapshot) -> None:
        after = (readings, numbers, snapshot)
        if after != self._shown:
            self._shown = after
            self.refresh(layout=True)

    def render(self) -> Content:
        return panel_text(*self._shown, self.container_size.width)


class SidePanel(VerticalScroll, can_focus=False):
    """Mounted while it is open. `plain`: no chart."""

    DEFAULT_CSS = """
    SidePanel {
        width: 34; height: 1fr; padding: 0 1 0 2; border-left: solid $foreground 20%; scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    SidePanel Chart { height: 5; padding: 0; margin-top: 1; }
    SidePanel Chart Horizontal { layout: vertical; height: 2; }
    SidePanel Chart Plain { width: 1fr; }
    """

    def __init__(self, plain: bool = False) -> None:
        super().__init__(id="side")
        self._text = PanelText()
        self._chart = None if plain else Chart(id="side-chart")
        self._answer: AnswerNumbers | None = None

    def compose(self) -> ComposeResult:
        yield self._text
        if self._chart is not None:
            yield self._chart

    def show(self, readings: Readings, numbers: AnswerNumbers | None, snapshot: Snapshot) -> None:
        """What is known now; the chart goes on while an answer runs, and starts anew with the next."""
        if self._chart is not None:
            if numbers is None and self._answer is not None:
                self._chart.clear()
            elif numbers is not None and numbers.finish is None and numbers != self._answer:
                self._chart.add(numbers.live_tok_s, numbers.live_accept_length)
        self._answer = numbers
        self._text.show(readings, numbers, snapshot)
