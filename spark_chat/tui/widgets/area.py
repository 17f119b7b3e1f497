"""A field of several lines that a window of any width holds."""

from __future__ import annotations

from textual.strip import Strip
from textual.widgets import TextArea


class Area(TextArea):
    """Textual wraps the placeholder to the room there is, and falls over where there is none."""

    def render_line(self, y: int) -> Strip:
        if self.content_size.width < 1:
            return Strip.blank(self.size.width)
        return super().render_line(y)
