"""The commands that what is typed may become, listed above the prompt. Takes no focus and never takes Enter."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from spark_chat.tui.commands import Command, completions

ROWS = 6


class Completion(Static):
    DEFAULT_CSS = """
    Completion {
        height: auto; display: none; color: $text-muted; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._found: list[Command] = []
        self._at = 0
        self._dismissed = ""

    @property
    def is_open(self) -> bool:
        return bool(self._found)

    @property
    def chosen(self) -> Command | None:
        return self._found[self._at] if self._found else None

    def follow(self, typed: str) -> None:
        """Shows what fits `typed`, unless it was dismissed for that very text."""
        if typed != self._dismissed:
            self._dismissed = ""
        self._found = [] if self._dismissed else completions(typed)
        self._at = 0
        self._draw()

    def move(self, step: int) -> None:
        if self._found:
            self._at = (self._at + step) % len(self._found)
            self._draw()

    def dismiss(self, typed: str) -> None:
        self._dismissed = typed
        self._found = []
        self._draw()

    def _draw(self) -> None:
        self.display = self.is_open
        if not self.is_open:
            return
        first = max(0, min(self._at - ROWS + 1, len(self._found) - ROWS)) if self._at >= ROWS else 0
        rows = []
        for place, command in list(enumerate(self._found))[first : first + ROWS]:
            mark = "▸" if place == self._at else " "
            row = Content(f"{mark} {command.usage:<20} {command.help}")
            rows.append(row.stylize("bold") if place == self._at else row)
        more = len(self._found) - first - ROWS
        hint = f"tab takes it, esc closes{f', {more} more below' if more > 0 else ''}"
        self.update(Content("\n").join([*rows, Content(hint).stylize("dim")]))
