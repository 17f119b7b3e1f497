"""The panel above the composer: what a person should know now, and the keys that act on it. Never takes the focus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.content import Content
from textual.events import Resize
from textual.widget import Widget

from spark_chat.tui import keymap
from spark_chat.tui.plain import one_line

Tone = Literal["plain", "warn", "bad"]
MARKS: dict[Tone, str] = {"plain": "·", "warn": "!", "bad": "✗"}


@dataclass(frozen=True)
class Notice:
    """One thing to know. `keys`: (key or action, what it does). `accept`: what the go-on key does, by
    the screen's name for it.

    `quoted`: lines of a log, shown as they are. `fraction`: how far something is, or None for no bar.
    """

    name: str
    title: str
    body: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    quoted: tuple[str, ...] = ()
    fraction: float | None = None
    accept: str = ""
    tone: Tone = "plain"
    dismissable: bool = True
    half: bool = False
    """It may take half of a screen that is otherwise empty, in place of a third."""


def bar(fraction: float, width: int) -> str:
    """A bar of `width` cells, then the percentage."""
    done = max(0, min(width, round(fraction * width)))
    return f"{'━' * done}{'─' * (width - done)} {fraction:4.0%}"


def notice_text(notice: Notice, width: int, lines: int, plain: bool = False) -> Content:
    """The notice in `width` cells and at most `lines` lines: the title, then the keys, then as much else as there is
    room for. `plain` draws no bar, and says no figure that ticks."""
    mark = MARKS[notice.tone]
    title = Content.assemble((f"{mark} ", "bold"), (one_line(notice.title), "bold"))
    if notice.fraction is not None and not plain:
        title = Content.assemble(title, "  ", (bar(notice.fraction, 24 if width >= 70 else 10), "$text-accent"))
    head = [title.truncate(width, ellipsis=True)] if lines == 1 else _wrapped(title, width)
    keys = _wrapped(_keys(notice.keys), width) if notice.keys else []
    middle: list[Content] = []
    for line in notice.body:
        middle += [Content.assemble("  ", part) for part in _wrapped(Content(one_line(line)), width - 2)]
    quoted = [
        Content.assemble((f"  {'' if plain else '│ '}{one_line(line)}", "$text-muted")).truncate(width, ellipsis=True)
        for line in notice.quoted
    ]
    room = max(0, lines - len(head) - len(keys))
    body = middle[:room]
    tail = quoted[-(room - len(body)) :] if room > len(body) else []
    return Content("\n").join([*head, *body, *tail, *keys][: max(1, lines)])


def _keys(keys: tuple[tuple[str, str], ...]) -> Content:
    pieces: list[tuple[str, str]] = [("  ", "")]
    for number, (key, what) in enumerate(keys):
        pieces += [("   " if number else "", ""), (keymap.key(key), "$text-accent bold"), (f" {one_line(what)}", "")]
    return Content.assemble(*pieces)


def _wrapped(content: Content, width: int) -> list[Content]:
    return content.wrap(max(8, width)) if content.cell_length > width else [content]


class NoticePanel(Widget, can_focus=False):
    """Shows the weightiest notices that fit; the others come up as these go."""

    def __init__(self, plain: bool = False) -> None:
        super().__init__(id="notices")
        self.notices: tuple[Notice, ...] = ()
        self.display = False
        self.plain = plain

    def show(self, notices: tuple[Notice, ...]) -> None:
        """Show these, the weightiest first."""
        if notices == self.notices:
            return
        self.notices = notices
        self.display = bool(notices)
        tone = notices[0].tone if notices else "plain"
        for name in MARKS:
            self.set_class(name == tone, f"-{name}")
        self.refresh(layout=True)

    def on_resize(self, event: Resize) -> None:
        self.refresh(layout=True)

    @property
    def drawn(self) -> tuple[Notice, ...]:
        """Those that there is room for: only what they offer is to be had."""
        return tuple(notice for notice, _ in self._fitting())

    def render(self) -> Content:
        return Content("\n").join(content for _, content in self._fitting())

    def _fitting(self) -> list[tuple[Notice, Content]]:
        height = self.app.size.height
        part = 2 if any(notice.half for notice in self.notices) else 3
        room = max(2, height // part) if height >= 12 else max(1, height - 4)
        width = self.app.size.width - self.gutter.width
        shown: list[tuple[Notice, Content]] = []
        for notice in self.notices:
            left = room - sum(len(content.plain.splitlines()) for _, content in shown) - len(shown)
            if left < (2 if shown else 1):
                break
            shown.append((notice, notice_text(notice, width, left, self.plain)))
        return shown
