"""The log: the engine's of its newest start, or the app's own, as it grows, with a filter. Hostile text: no markup, no
control characters."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, cast

from rich.segment import Segment
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input

from spark_chat.logs.sieve import Sieve
from spark_chat.text.wrap import wrap
from spark_chat.tui.plain import Plain, one_line

if TYPE_CHECKING:
    from spark_chat.logs.files import Kind
    from spark_chat.logs.tail import Tail
    from spark_chat.tui.app import SparkApp

KEPT = 20_000
"""Lines that stay in view; older ones are in the file."""
EVERY_S = 0.5
HINTS = "tab list   f9 engine, app   end newest   ctrl+r read again   esc back"
HINTS_SHORT = "f9 engine, app   esc back"


class LogLines(ScrollView, can_focus=True):
    """Lines, wrapped to the width there is; follows the end until one scrolls up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_home", "To the start", show=False),
        Binding("end", "scroll_end", "To the newest", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="log-lines")
        self.lines: list[str] = []
        self._rows: list[str] = []
        self._following = True

    def show(self, lines: list[str]) -> None:
        """These lines, in place of all others."""
        self.lines = []
        self._rows = []
        self._following = True
        self.add(lines)

    def add(self, lines: list[str]) -> None:
        """More of them."""
        self.lines += lines
        for line in lines:
            self._rows += self._wrapped(line)
        self._measure()
        if self._following:
            self.scroll_end(animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._following = new_value >= self.max_scroll_y

    def _wrapped(self, line: str) -> list[str]:
        width = max(1, self.scrollable_content_region.width)
        line = line.expandtabs(4)
        return [line[start:end] for start, end, _ in wrap(line, width)]

    def _measure(self) -> None:
        self.virtual_size = Size(max(1, self.scrollable_content_region.width), len(self._rows))
        self.refresh()

    def on_resize(self, event: Resize) -> None:
        self._rows = [row for line in self.lines for row in self._wrapped(line)]
        self._measure()
        if self._following:
            self.scroll_end(animate=False)

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        text = self._rows[at] if at < len(self._rows) else ""
        return Strip([Segment(text, self.rich_style)]).adjust_cell_length(self.size.width, self.rich_style)


class LogScreen(Screen[None]):
    """Over the chat. `text`: the filter at first."""

    AUTO_FOCUS = "Input"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (10, "-tall")]
    DEFAULT_CSS = """
    LogScreen { layout: vertical; }
    LogScreen #log-title { height: 1; padding: 0 2; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
    LogScreen #log-filter { height: 1; padding: 0 2; border: none; background: $surface; }
    LogScreen #log-lines { height: 1fr; margin: 0 2; overflow-y: scroll; scrollbar-size-vertical: 1;
        background: transparent; }
    LogScreen #log-hints { height: 1; padding: 0 2; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    LogScreen.-low #log-hints { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back to the chat", id="log.back", show=False, priority=True),
        Binding("f9", "other", "The engine's log or the app's", id="log.other", show=False, priority=True),
        Binding("ctrl+r", "again", "Read again", id="log.again", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", id="log.up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", id="log.down", show=False, priority=True),
    ]

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._text = text
        self._kind: Kind = "engine"
        self._tail: Tail | None = None
        self._all: list[str] = []
        self._sieve = Sieve(text)
        self._trouble = ""
        self._reading = asyncio.Lock()

    def compose(self) -> ComposeResult:
        yield Plain(id="log-title")
        yield Input(self._text, id="log-filter", placeholder="words that a line must have, -words it must not")
        yield LogLines()
        yield Plain(HINTS, id="log-hints")

    @property
    def accessible(self) -> bool:
        return cast("SparkApp", self.app).accessible

    @property
    def _lines(self) -> LogLines:
        return self.query_one(LogLines)

    def on_mount(self) -> None:
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        """Once the width is known, which lines are wrapped to."""
        self.run_worker(self._read(), group="log")
        if not self.accessible:
            self.set_interval(EVERY_S, self._look)

    def _look(self) -> None:
        if not self._reading.locked():
            self.run_worker(self._read(), group="log")

    def on_resize(self, event: Resize) -> None:
        self.query_one("#log-hints", Plain).show(HINTS if event.size.width >= len(HINTS) + 4 else HINTS_SHORT)
        self._tell()

    async def _read(self) -> None:
        """Take in what is new in the log."""
        async with self._reading:
            kind, was = self._kind, self._tail
            tail, lines, trouble = await asyncio.to_thread(_news, kind, was)
            if kind != self._kind or not self.is_mounted:
                return
            self._tail, self._trouble = tail, trouble
            if tail is not was:
                self._all = lines
                self._filter()
            elif lines:
                self._all += lines
                if len(self._all) > KEPT:
                    del self._all[:-KEPT]
                    self._filter()
                else:
                    self._lines.add([line for line in lines if self._sieve.passes(line)])
            self._tell()

    def _filter(self) -> None:
        self._lines.show([line for line in self._all[-KEPT:] if self._sieve.passes(line)])

    def _tell(self) -> None:
        name = self._tail.path.name if self._tail is not None else "none yet"
        shown, total = len(self._lines.lines), len(self._all)
        count = f"{shown:,} of {total:,} lines" if shown != total else f"{total:,} lines"
        self.query_one("#log-title", Plain).show(one_line(f"{self._kind} log · {self._trouble or count} · {name}"))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._sieve = Sieve(event.value)
        if self._tail is not None:
            self._filter()
            self._tell()

    @on(Input.Submitted)
    def _to_lines(self) -> None:
        self._lines.focus()

    def action_other(self) -> None:
        """The app's log in place of the engine's, or back."""
        self._kind = "app" if self._kind == "engine" else "engine"
        self._tail, self._all = None, []
        self._lines.show([])
        self._tell()
        self.run_worker(self._read(), group="log")

    def action_again(self) -> None:
        self._look()

    def action_page(self, by: int) -> None:
        lines = self._lines
        if by < 0:
            lines.scroll_page_up(animate=False)
        else:
            lines.scroll_page_down(animate=False)


def _news(kind: Kind, tail: Tail | None) -> tuple[Tail | None, list[str], str]:
    """The log to look at, what is new in it, and a sentence where it can't be read. In a thread: disks may hang."""
    from spark_chat.locations import NoHome
    from spark_chat.logs.files import newest
    from spark_chat.logs.tail import Tail

    try:
        path = newest(kind)
        if path is None:
            return None, [], ""
        if tail is None or tail.path != path:
            tail = Tail(path)
        return tail, tail.new(), ""
    except (OSError, NoHome) as error:
        return tail, [], f"it can't be read: {error}"
