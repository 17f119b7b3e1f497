"""The kept conversations, listed above the prompt to go on with one. Takes no focus; typing goes on under it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from spark_chat.tui import keymap
from spark_chat.tui.plain import one_line

if TYPE_CHECKING:
    from spark_chat.history.message import Listed

ROWS = 8


def when(updated: float, now: datetime) -> str:
    """A moment in few cells, as one says it at `now`: `today 14:03`, `30 Nov 14:03`, `30 Nov 2025`. Unix seconds."""
    moment = datetime.fromtimestamp(updated)
    if moment.date() == now.date():
        return f"today {moment:%H:%M}"
    return f"{moment:%d %b %H:%M}" if moment.year == now.year else f"{moment:%d %b %Y}"


class Earlier(Static):
    DEFAULT_CSS = """
    Earlier {
        height: auto; display: none; color: $text-muted; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: tuple[Listed, ...] = ()
        self._at = 0

    @property
    def is_open(self) -> bool:
        return bool(self.found)

    @property
    def chosen(self) -> Listed | None:
        return self.found[self._at] if self.found else None

    def open(self, found: Sequence[Listed]) -> None:
        """Show these, the first one chosen."""
        self.found, self._at = tuple(found), 0
        self._draw()

    def move(self, step: int) -> None:
        if self.found:
            self._at = (self._at + step) % len(self.found)
            self._draw()

    def close(self) -> None:
        if self.found:
            self.open(())

    def _draw(self) -> None:
        self.display = self.is_open
        if not self.is_open:
            return
        rows_shown = max(1, min(ROWS, self.app.size.height // 3))
        first = max(0, self._at - rows_shown + 1)
        now, rows = datetime.now(), []
        for place, item in list(enumerate(self.found))[first : first + rows_shown]:
            mark = "▸" if place == self._at else " "
            row = Content(f"{mark} {when(item.updated, now):<12}  {one_line(item.title)}")
            rows.append(row.stylize("bold") if place == self._at else row)
        more = len(self.found) - first - len(rows)
        keys = f"up, down choose · enter opens ({keymap.key('go')} over a draft) · esc closes"
        hint = f"{keys}{f' · {more} more below' if more > 0 else ''}"
        self.update(Content("\n").join([*rows, Content(hint).stylize("$text-muted")]))
