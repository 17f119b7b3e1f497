"""A pasted text, opened above the prompt: to look at, not to edit. Escape closes it; typing goes on below it."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from spark_chat.tui.plain import cleaned

LONGEST_LINE = 2_000
"""Characters of one line that are drawn; the text itself is whole."""


class Preview(ScrollView):
    """Draws only the lines in view, so a text of any size opens at once."""

    DEFAULT_CSS = """
    Preview { height: auto; max-height: 40vh; border: round $secondary; display: none; background: transparent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close", show=False)]

    class Closed(Message):
        """It is to close; `typed` is what was typed at it and means the prompt."""

        def __init__(self, typed: str = "") -> None:
            super().__init__()
            self.typed = typed

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[str] = []
        self.chip: str | None = None

    def open(self, chip: str, text: str, title: str) -> None:
        self.chip = chip
        self._lines = text.split("\n")
        width = min(LONGEST_LINE, max(map(len, self._lines)))
        self.border_title = Content(title)
        self.border_subtitle = "up, down, pages scroll · esc closes"
        self.virtual_size = Size(width, len(self._lines))
        self.display = True
        self.screen.add_class("-looking")
        self.scroll_home(animate=False)
        self.refresh(layout=True)

    def close(self) -> None:
        self.chip = None
        self._lines = []
        self.display = False
        self.screen.remove_class("-looking")

    @property
    def is_open(self) -> bool:
        return self.chip is not None

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character:
            event.stop()
            self.post_message(self.Closed(event.character))

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        row = top + y
        if row >= len(self._lines):
            return Strip.blank(self.size.width, self.rich_style)
        line = cleaned(self._lines[row][:LONGEST_LINE].rstrip("\r")).expandtabs(4)
        strip = Strip([Segment(line, self.rich_style)])
        return strip.crop_extend(left, left + self.size.width, self.rich_style)
