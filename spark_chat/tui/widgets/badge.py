"""A badge: one optimization's mark, label and state. The mark and the word carry the state; colour only repeats it."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from spark_chat.optimizations.optimization import Badge, State
from spark_chat.tui.plain import one_line

WORD, LABEL, SHORT = "word", "label", "short"
"""How much a badge says: `● MTP active`, `● MTP`, `●M`."""

LOUD = (State.FAILED,)
"""States that say their word wherever there is room for a label."""


def badge_text(badge: Badge, detail: str) -> str:
    """What the badge reads, with its pending mark: `● MTP active, off at restart`, `● MTP →off`, `●M→`."""
    mark, label, pending = badge.state.mark, one_line(badge.label), badge.pending or ""
    if detail == SHORT:
        return f"{mark}{label[:1]}{'!' if badge.warning else ''}{'→' if pending else ''}"
    text = f"{mark} {label}"
    if detail == WORD or badge.state in LOUD:
        text += f" {badge.word or badge.state.value.lower()}"
    if badge.warning:
        text += " !"
    if pending:
        text += f", {pending}" if detail == WORD else f" →{pending.split()[0]}"
    return text


class BadgeWidget(Widget, can_focus=True):
    """Shows a badge. Enter or a click opens what is known of it."""

    class Opened(Message):
        """The person wants to know about the optimization `name`."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "open", "Open badge", id="badge.open", show=False),
        Binding("up", "screen.scroll_transcript('scroll_up')", "Scroll up", id="badge.up", show=False),
        Binding("down", "screen.scroll_transcript('scroll_down')", "Scroll down", id="badge.down", show=False),
        Binding("left", "app.focus_previous", "Badge to the left", id="badge.left", show=False),
        Binding("right", "app.focus_next", "Badge to the right", id="badge.right", show=False),
    ]

    def __init__(self, badge: Badge, detail: str = LABEL) -> None:
        super().__init__(id=f"badge-{badge.name}", classes="badge")
        self.badge, self.detail = badge, detail
        self._dress()

    def show(self, badge: Badge, detail: str) -> None:
        """Show another state, or more or less of it."""
        if (badge, detail) == (self.badge, self.detail):
            return
        resized = badge_text(badge, detail) != badge_text(self.badge, self.detail)
        self.badge, self.detail = badge, detail
        self._dress()
        self.refresh(layout=resized)

    def _dress(self) -> None:
        for state in State:
            self.set_class(self.badge.state is state, f"-{state.value.lower()}")
        self.set_class(bool(self.badge.warning), "-warned")
        self.set_class(bool(self.badge.pending), "-pending")

    def render(self) -> Content:
        return Content(badge_text(self.badge, self.detail))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return cell_len(badge_text(self.badge, self.detail))

    def action_open(self) -> None:
        self.post_message(self.Opened(self.badge.name))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.action_open()
