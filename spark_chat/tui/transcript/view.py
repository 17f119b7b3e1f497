"""The surface that draws the conversation and scrolls it, whatever its length.

Only what is near the screen is laid out; heights elsewhere are estimates. When one turns out wrong, the scroll offset
moves along, so that what a person reads stays where it is.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from spark_chat.text.palette import Palette
from spark_chat.tui.transcript import drawing
from spark_chat.tui.transcript.answer import Answer
from spark_chat.tui.transcript.document import Document, Place
from spark_chat.tui.transcript.looks import palette_of
from spark_chat.tui.transcript.paint import Painter, changed
from spark_chat.tui.transcript.pulse import Pulse

BUDGET = 0.012
"""Seconds of work in one update; what is left is done in the next, after the keys that came meanwhile."""


class View(ScrollView, can_focus=False):
    """Lays out, scrolls, draws. It never takes the focus: the app calls its scroll actions."""

    ALLOW_SELECT = True

    follow: var[bool] = var(True)
    """Keep the end in view as it grows, unless the person scrolled up."""
    has_more_below: var[bool] = var(False, init=False)
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
        self._pulse = Pulse(self._due)
        self._painter = Painter()
        self._lines: list[Strip] = []
        self._painted_at: tuple[int, Palette, Selection | None] | None = None

    # ------------------------------------------------------------------ updates

    @property
    def columns(self) -> int:
        """Cells of a line, without the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def settled(self) -> bool:
        """Everything that came is on the screen, and no work is left."""
        return not self._pulse.waits and not self._busy

    @property
    def share(self) -> float:
        """Of a core, for updates and their painting."""
        return self._pulse.share

    @share.setter
    def share(self, share: float) -> None:
        self._pulse.share = share

    def _wake(self, soon: bool = False) -> None:
        if self.is_attached:
            self._pulse.wake(soon)

    def _due(self) -> None:
        self.call_next(self._update)

    def on_mount(self) -> None:
        self._wake(soon=True)

    def on_unmount(self) -> None:
        self._pulse.end()

    def _update(self) -> None:
        deadline = self._pulse.begin() + BUDGET
        document = self._document
        place = document.place(round(self.scroll_y))
        for id, answer in list(self._busy.items()):
            found = document.find(Answer, id)
            if answer.digest(deadline):
                del self._busy[id]
            if found is not None:
                document.changed(found[0])
                if place is not None and place.entry == found[0]:
                    place = replace(place, slot=None)  # its slots may have other numbers now: hold the row
        done = self._settle(deadline, None if place is None else document.row_of(place))
        if self._busy or not done:
            self._wake(soon=True)

    def _settle(self, deadline: float, top: int | None = None) -> bool:
        """Lay out what is on the screen and around it, and show it; False where some is left for later. `top`: the
        row that is read first, where it is not the one that was."""
        rows = self.size.height
        if not rows:
            return True
        document = self._document
        if self._following:
            done = document.settle_end(rows, rows, deadline)
            top = max(0, document.height - rows)
        else:
            top, done = document.settle(round(self.scroll_y) if top is None else top, rows, rows, deadline)
            top = max(0, min(top, document.height - rows))
        waiting = False
        for colours in document.colours(top, rows):
            colours.advance(deadline)
            waiting = waiting or colours.waiting
            done = done and (colours.done or waiting)
        self._show(top)
        if done and waiting:
            self._wake()
        return done

    def _show(self, top: int) -> None:
        self._placing = True
        try:
            self._set_height(self._document.height)
            if top != round(self.scroll_y) or top != self.scroll_target_y:
                self.scroll_to(y=top, animate=False, force=True, immediate=True)
        finally:
            self._placing = False
        self.has_more_below = top + self.size.height < self._document.height
        self._repaint()

    def _set_height(self, height: int) -> None:
        """Set `virtual_size`, without the layout of the whole screen that comes with it: the scrollbar is always
        there, so nothing but it can look different."""
        size = Size(self.columns, height)
        if size != self.virtual_size:
            self.set_reactive(View.virtual_size, size)
            self.vertical_scrollbar.window_size = self.size.height
            self.vertical_scrollbar.window_virtual_size = height

    def _repaint(self) -> None:
        """Have the lines painted that are others than before."""
        before, self._lines = self._lines, self._visible()
        spans = changed(before, self._lines)
        if len(before) != len(self._lines) or sum(count for _, count in spans) * 2 > len(self._lines):
            self.refresh()
        elif spans:
            self.refresh(*(Region(0, y, self.columns, count) for y, count in spans))

    def _visible(self) -> list[Strip]:
        top, width, height = round(self.scroll_y), self.columns, self.size.height
        palette, selection = self._palette(), self.text_selection
        lines = [self._painter.line(self._document, top + y, width, selection) for y in range(height)]
        if self.has_more_below and lines:
            lines[-1] = self._painter.with_mark(lines[-1], width, palette)
        self._painted_at = (top, palette, selection)
        return lines

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

    def _toggle(self, at: int, slot: int | None = None) -> bool:
        """Open or close what folds in an entry, at `slot` or wherever. What is read stays where it is; what was opened
        comes into view."""
        document = self._document
        entry, count = document.entries[at], len(document.entries[at].slots)
        top = round(self.scroll_y)
        place = document.place(top)
        if place is None or not entry.toggle(slot):
            return False
        document.changed(at)
        if place.entry == at and place.slot:
            place = replace(place, slot=max(0, place.slot + len(entry.slots) - count))
        fold = document.top(at) + document.above(at)
        in_view = top <= fold < top + self.size.height
        if slot is None and not in_view and entry.opened:
            self._following = False
            self._show(fold)
        elif in_view or not self._following:
            self._following = False
            self._show(document.row_of(place))
        if not self._settle(perf_counter() + BUDGET):
            self._wake(soon=True)
        self._following = self.follow and not self.has_more_below
        return True

    def _bring(self, at: int) -> None:
        """Scroll as little as brings an entry into view, its beginning where it is longer than the screen."""
        document, rows = self._document, self.size.height
        document.entries[at].prepare(document.width, perf_counter() + BUDGET)
        document.changed(at)
        top, first = document.top(at) + (at > 0), round(self.scroll_y)
        end = document.top(at) + document.above(at) + document.entries[at].height
        if top < first or (end > first + rows and top > first):
            self._following = False
            self._show(top if top < first else min(top, end - rows))
        if not self._settle(perf_counter() + BUDGET):
            self._wake(soon=True)
        self._following = self.follow and not self.has_more_below

    def _read_at(self, place: Place) -> None:
        """Have `place` at the top, and stay there."""
        self._following = False
        self._show(min(self._document.row_of(place), max(0, self._document.height - self.size.height)))
        if not self._settle(perf_counter() + BUDGET):
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
            new = palette_of(self, plain=self.app.has_class("-accessible"))
            if new.styles != self._document.palette.styles:
                self._document.palette = new
        return self._document.palette

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        if self._painted_at != (round(self.scroll_y), self._palette(), self.text_selection):
            self._lines = self._visible()
        return self._lines[y] if y < len(self._lines) else Strip.blank(self.columns, self._palette().style("text"))
