"""The surface that draws the conversation and scrolls it, whatever its length.

Only what is near the screen is laid out; heights elsewhere are estimates. When one turns out wrong, the scroll offset
moves along, so that what a person reads stays where it is.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from rich.segment import Segment
from textual import events
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from spark_chat.text.palette import Palette
from spark_chat.tui.transcript import drawing
from spark_chat.tui.transcript.answer import Answer
from spark_chat.tui.transcript.document import Document, Place
from spark_chat.tui.transcript.looks import palette_of
from spark_chat.tui.transcript.selecting import selected_text

PERIOD = 0.05
"""Seconds between two updates while text streams: at most 20 a second, and none when nothing comes."""
BUDGET = 0.012
"""Seconds of work in one update; what is left is done in the next, after the keys that came meanwhile."""


class View(ScrollView, can_focus=False):
    """Lays out, scrolls, draws. It never takes the focus: the app calls its scroll actions."""

    ALLOW_SELECT = True

    follow: var[bool] = var(True)
    """Keep the end in view as it grows, unless the person scrolled up."""
    has_more_below: var[bool] = var(False)
    """The end is out of view."""

    class MoreBelow(Message):
        """`more`: whether there is text below what is shown."""

        def __init__(self, more: bool) -> None:
            super().__init__()
            self.more = more

    def __init__(self, *, follow: bool = True, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(View.follow, follow)
        self._document = Document(Palette())
        self._palette_is_old = True
        self._following = follow
        self._placing = False
        self._busy: dict[str, Answer] = {}
        self._timer: Timer | None = None
        self._last = 0.0
        self._pointed: int | None = None

    # ------------------------------------------------------------------ updates

    @property
    def columns(self) -> int:
        """Cells of a line, without the scrollbar."""
        return self.scrollable_content_region.width

    def _wake(self, soon: bool = False) -> None:
        if self._timer is None and self.is_attached:
            wait = 0.001 if soon else max(0.001, self._last + PERIOD - perf_counter())
            self._timer = self.set_timer(wait, self._update)

    def on_mount(self) -> None:
        self._wake(soon=True)

    def _update(self) -> None:
        self._timer = None
        self._last = perf_counter()
        deadline = self._last + BUDGET
        for id, answer in list(self._busy.items()):
            found = self._document.find(Answer, id)
            if answer.digest(deadline):
                del self._busy[id]
            if found is not None:
                self._document.changed(found[0])
        done = self._settle(deadline)
        if self._busy or not done:
            self._wake(soon=True)

    def _settle(self, deadline: float) -> bool:
        """Lay out what is on the screen and around it, and show it; False where some is left for later."""
        rows = self.size.height
        if not rows:
            return True
        document = self._document
        if self._following:
            done = document.settle_end(rows, rows, deadline)
            top = max(0, document.height - rows)
        else:
            top, done = document.settle(round(self.scroll_y), rows, rows, deadline)
            top = max(0, min(top, document.height - rows))
        for colours in document.colours(top, rows):
            colours.advance(deadline)
            done = done and colours.done
        self._show(top)
        return done

    def _show(self, top: int) -> None:
        size = Size(self.columns, self._document.height)
        self._placing = True
        try:
            if size != self.virtual_size:
                self.virtual_size = size
            if top != round(self.scroll_y) or top != self.scroll_target_y:
                self.scroll_to(y=top, animate=False, force=True, immediate=True)
        finally:
            self._placing = False
        self.has_more_below = top + self.size.height < self._document.height
        self.refresh()

    def watch_has_more_below(self, more: bool) -> None:
        if self.is_attached:
            self.post_message(self.MoreBelow(more))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and self.is_attached:
            self._following = self.follow and round(new_value) >= self.max_scroll_y
            if not self._settle(perf_counter() + BUDGET):
                self._wake(soon=True)

    def watch_follow(self, follow: bool) -> None:
        self._following = follow and not self.has_more_below

    def on_resize(self, event: events.Resize) -> None:
        document = self._document
        width = self.columns
        gutter = drawing.gutter_width(width)
        text = max(1, width - gutter - drawing.RIGHT)
        if (text, gutter == drawing.NARROW_GUTTER) != (document.width, document.labelled):
            place = document.place(round(self.scroll_y))
            document.resize(text, gutter == drawing.NARROW_GUTTER)
            if place is not None and not self._following:
                self._hold(place)
        if not self._settle(perf_counter() + BUDGET):
            self._wake(soon=True)

    def _hold(self, place: Place) -> None:
        entry = self._document.entries[place.entry]
        entry.prepare(self._document.width, perf_counter() + BUDGET)
        self._document.changed(place.entry)
        self._show(self._document.row_of(place))

    def _changed_in_place(self, at: int) -> None:
        """An entry grew or shrank because the person said so: what is above it stays where it is."""
        self._document.changed(at)
        self._following = False
        done = self._settle(perf_counter() + BUDGET)
        self._following = self.follow and not self.has_more_below
        if not done:
            self._wake(soon=True)

    # ------------------------------------------------------------------ scrolling

    def follow_end(self) -> None:
        """Go to the end and stay there."""
        self._following = True
        if not self._settle(perf_counter() + BUDGET):
            self._wake(soon=True)
        self._following = self.follow

    def action_scroll_end(self) -> None:
        self.follow_end()

    def action_scroll_home(self) -> None:
        self._scroll(-self._document.height)

    def action_scroll_up(self) -> None:
        self._scroll(-1)

    def action_scroll_down(self) -> None:
        self._scroll(1)

    def action_page_up(self) -> None:
        self._scroll(1 - max(2, self.size.height))

    def action_page_down(self) -> None:
        self._scroll(max(2, self.size.height) - 1)

    def _scroll(self, rows: int) -> None:
        self.scroll_to(y=round(self.scroll_y) + rows, animate=False, force=True, immediate=True)

    # ------------------------------------------------------------------ drawing

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._palette_is_old = True

    def _palette(self) -> Palette:
        if self._palette_is_old:
            self._palette_is_old = False
            new = palette_of(self)
            if new.styles != self._document.palette.styles:
                self._document.palette = new
        return self._document.palette

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.columns
        palette = self._palette()
        place = self._document.place(round(self.scroll_y) + y)
        if place is None or round(self.scroll_y) + y >= self._document.height:
            return Strip.blank(width, palette.style("text"))
        strip = self._strip(place, width, palette)
        if self.has_more_below and y == self.size.height - 1:
            strip = drawing.overlay(strip, width, palette)
        return strip

    def _strip(self, place: Place, width: int, palette: Palette) -> Strip:
        document = self._document
        entry = document.entries[place.entry]
        gutter = drawing.gutter_width(width)
        number = drawing.line_number(place.entry, place.row)
        row = document.row(place)
        named = place.slot == 0 and place.inside == 0 and not document.labelled
        key: Any = (number, width, palette, named)
        if row is not None and row.drawn is not None and row.drawn[0] == key:
            strip: Any = row.drawn[1]
        else:
            if document.labelled and place.slot is None and place.row == document.above(place.entry) - 1:
                head = drawing.label(entry.label, entry.role, width, palette)
            elif named:
                head = drawing.label(entry.label, entry.role, gutter, palette)
            else:
                head = [Segment(" " * gutter, palette.style("text"))]
            strip = drawing.draw(row, head, width, number, palette)
            if row is not None:
                row.drawn = (key, strip)
        selection = self.text_selection
        if selection is not None:
            strip = drawing.select(strip, row, gutter, number, selection, palette.style("selection"))
        return strip  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ mouse and selection

    def _place_at(self, y: int) -> Place | None:
        return self._document.place(round(self.scroll_y) + y)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        place = self._place_at(event.y)
        self._pointed = None if place is None else place.entry

    def on_click(self, event: events.Click) -> None:
        if self.has_more_below and event.y == self.size.height - 1 and event.x >= self.columns - len(drawing.MORE):
            self.follow_end()
            return
        place = self._place_at(event.y)
        if place is None or place.slot is None or self.text_selection is not None:
            return
        if self._document.entries[place.entry].toggle(place.slot):
            self._changed_in_place(place.entry)

    def text_select_all(self) -> None:
        """A double click selects the entry that was pointed at, not the whole conversation."""
        if self._pointed is None or self._pointed >= len(self._document.entries):
            return
        end = 1 << 20
        self.screen.selections = {
            self: Selection(
                Offset(0, drawing.line_number(self._pointed, 0)), Offset(end, drawing.line_number(self._pointed, end))
            )
        }

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text of what is selected."""
        return selected_text(self._document, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
