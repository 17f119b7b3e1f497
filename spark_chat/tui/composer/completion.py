"""What the text being written may become, listed above the prompt. Takes no focus and never takes Enter."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.widgets import Static

from spark_chat.tui.composer.suggest import Suggestion
from spark_chat.tui.plain import one_line

ROWS = 6
NAME = 20
"""Cells of the names' column at the least; a longer name pushes what it is about."""


class Completion(Static):
    DEFAULT_CSS = """
    Completion {
        height: auto; display: none; color: $text-muted; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.found: tuple[Suggestion, ...] = ()
        self._at = 0
        self._dismissed = ""
        self._note = ""

    @property
    def is_open(self) -> bool:
        return bool(self.found)

    @property
    def chosen(self) -> Suggestion | None:
        return self.found[self._at] if self.found else None

    def follow(self, typed: str, found: Sequence[Suggestion], note: str = "") -> None:
        """Shows what `typed` may become, unless it was dismissed for that very text. `note`: said below the list."""
        if typed != self._dismissed:
            self._dismissed = ""
        shown = () if self._dismissed else tuple(found)
        if shown == self.found and note == self._note:
            return
        self.found, self._at, self._note = shown, 0, note
        self._draw()

    def move(self, step: int) -> None:
        if self.found:
            self._at = (self._at + step) % len(self.found)
            self._draw()

    def dismiss(self, typed: str) -> None:
        self._dismissed = typed
        self.found = ()
        self._draw()

    def _draw(self) -> None:
        self.display = self.is_open
        if not self.is_open:
            return
        first = max(0, min(self._at - ROWS + 1, len(self.found) - ROWS)) if self._at >= ROWS else 0
        rows = []
        for place, item in list(enumerate(self.found))[first : first + ROWS]:
            mark = "▸" if place == self._at else " "
            name = one_line(item.shown)
            name = set_cell_size(name, NAME) if item.about and cell_len(name) < NAME else name
            row = Content(f"{mark} {name} {one_line(item.about)}".rstrip())
            rows.append(row.stylize("bold") if place == self._at else row)
        more = len(self.found) - first - ROWS
        hint = f"tab takes it, esc closes{f', {more} more below' if more > 0 else ''}{self._note}"
        self.update(Content("\n").join([*rows, Content(hint).stylize("$text-muted")]))
