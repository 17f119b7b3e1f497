"""The line of keys for the message that is chosen; away while none is."""

from __future__ import annotations

from textual.content import Content
from textual.events import Resize
from textual.widget import Widget

from spark_chat.tui.message_keys import About, hints


class MessageBar(Widget):
    """One line above the composer."""

    DEFAULT_CSS = """
    MessageBar { height: 1; display: none; padding: 0 2; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__(id="message-bar")
        self._about: About | None = None

    def show(self, about: About | None) -> None:
        """The keys for such a message; None: no message is chosen."""
        self._about = about
        self.display = about is not None
        self.refresh()

    def on_resize(self, event: Resize) -> None:
        self.refresh()

    def render(self) -> Content:
        if self._about is None:
            return Content("")
        rows = hints(self._about, self.size.width)
        parts = [Content.assemble((key, "bold $text-accent"), f" {word}") for key, word in rows]
        return Content(" · ").join(parts)
