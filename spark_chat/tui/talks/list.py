"""The rows on the screen: only those in view are ever made, however many there are."""

from __future__ import annotations

from datetime import datetime

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from spark_chat.history.message import Hit, Listed
from spark_chat.tui.talks.rows import hit_row, row
from spark_chat.tui.talks.window import Window


class TalkList(Widget):
    """Never takes the focus: what is written goes to the search above it."""

    DEFAULT_CSS = """
    TalkList { height: 1fr; padding: 0 1; }
    """

    class Wanted(Message):
        """The page from row `first` on is in view and not known."""

        def __init__(self, first: int) -> None:
            super().__init__()
            self.first = first

    class Opened(Message):
        """A row was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.window: Window[Listed | Hit] = Window()
        self.here = ""
        self.empty = ""
        """What is said where there is no row."""
        self._lines = 1

    def show(self, lines: int) -> None:
        """The window's rows are others now, of so many lines each."""
        self._lines = lines
        self._fit()

    def move(self, step: int) -> None:
        """Choose the row `step` further."""
        self.window.move(step)
        self._fit()

    def page(self, step: int) -> None:
        """A screen up or down."""
        self.move(step * max(1, self.window.shown - 1))

    @property
    def chosen(self) -> Listed | None:
        """The conversation of the chosen row."""
        found = self.window.row
        return found.listed if isinstance(found, Hit) else found

    def _fit(self) -> None:
        self.window.resize(self.size.height // self._lines)
        if (first := self.window.wanted()) is not None:
            self.post_message(self.Wanted(first))
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-3)

    def on_click(self, event: events.Click) -> None:
        at = self.window.first + event.y // self._lines
        if at < self.window.total:
            twice = at == self.window.chosen
            self.window.choose(at)
            self._fit()
            if twice:
                self.post_message(self.Opened())

    def render(self) -> Content:
        if not self.window.total:
            lines = Content.styled(self.empty, "$text-muted").wrap(max(1, self.size.width - 4))
            return Content("\n").join(Content.assemble("  ", line) for line in lines)
        width, now = self.size.width - 2, datetime.now()
        lines = []
        for at, item in self.window.view:
            chosen = at == self.window.chosen
            if item is None:
                lines.append(Content("  …"))
            elif isinstance(item, Hit):
                lines.append(hit_row(item, width, now, chosen=chosen, here=item.listed.conversation == self.here))
            else:
                lines.append(row(item, width, now, chosen=chosen, here=item.conversation == self.here))
        return Content("\n").join(lines)
