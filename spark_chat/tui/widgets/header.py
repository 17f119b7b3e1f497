"""The top line: what runs here on the left, the badges on the right. Folds as the terminal narrows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget

from spark_chat.optimizations.optimization import Badge
from spark_chat.tui import keymap
from spark_chat.tui.plain import one_line
from spark_chat.tui.widgets.badge import LABEL, SHORT, WORD, BadgeWidget, badge_text

NAME = "spark-chat"
PADDING = 2
"""Cells left and right, from 40 columns on."""
UNKEPT = "! not kept"
LEAST_TITLE = 24
"""Cells the title keeps on a shared line; under that the badges get a line of their own."""


@dataclass(frozen=True)
class Title:
    """What runs: all parts are shown as they are, whatever is in them."""

    model: str = ""
    engine: str = ""
    machine: str = ""
    pending: int = 0
    """Saved settings that wait for a restart."""
    unkept: bool = False
    """Nothing of this conversation is kept, though it should be."""


def title_text(title: Title, width: int) -> Content:
    """The title in at most `width` cells: the fullest of its forms that fits, else the model's name cut short. Before
    it stands that nothing is kept, where that is so."""
    if title.unkept:
        mark = UNKEPT if width >= LEAST_TITLE else UNKEPT[:1]
        rest = title_text(replace(title, unkept=False), max(1, width - len(mark) - 1))
        return Content.assemble((mark, "$text-warning bold"), " ", rest).truncate(max(1, width), ellipsis=True)
    model = one_line(title.model) or "no model yet"
    facts = [model, one_line(title.engine), one_line(title.machine)]
    forms = [
        (NAME, facts),
        ("", facts),
        ("", [model, facts[1].split(" ")[0], facts[2]]),
        ("", [model, facts[2]]),
        ("", [model]),
    ]
    for name, parts in forms:
        line = " · ".join(part for part in parts if part)
        head = f"{name}  " if name else ""
        if cell_len(head + line) <= width:
            break
    named = Content(line).stylize("bold", 0, len(parts[0]))
    content = Content.assemble((head, "$text-primary bold" if head else ""), named)
    return content.truncate(max(1, width), ellipsis=True)


def pending_text(count: int, width: int) -> str:
    """How many changes wait, with as many words as `width` cells take."""
    if not count:
        return ""
    forms = (
        f"→ {count} change{'s' if count > 1 else ''} pending ({keymap.key('restart')})",
        f"→ {count} pending",
        f"→{count}",
    )
    return next((form for form in forms if len(form) <= width), "")


@dataclass(frozen=True)
class Fold:
    """How the header is laid out at one width."""

    detail: str
    rows: int
    title: int
    """Cells for the title."""
    pending: str


def fold(badges: tuple[Badge, ...], title: Title, width: int, height: int) -> Fold:
    """The most that `width` x `height` cells allow: one line with words or labels, two lines, marks only."""
    inside = max(1, width - (2 * PADDING if width >= 40 else 2))
    full = cell_len(title_text(title, 10_000).plain)
    for detail in (WORD, LABEL):
        taken = sum(cell_len(badge_text(badge, detail)) + 2 for badge in badges)
        for words in (40, 12, 3):
            pending = pending_text(title.pending, words)
            left = inside - taken - (len(pending) + 2 if pending else 0)
            if left >= (full if detail == WORD else LEAST_TITLE) and (pending or not title.pending):
                return Fold(detail, 1, left, pending)
    for detail in (WORD, LABEL):
        taken = sum(cell_len(badge_text(badge, detail)) + 2 for badge in badges) - 2
        pending = pending_text(title.pending, inside - taken - 2)
        if taken <= inside and height >= 12 and (pending or not title.pending):
            return Fold(detail, 2, inside, pending)
    taken = sum(cell_len(badge_text(badge, SHORT)) + 1 for badge in badges)
    pending = pending_text(title.pending, 3)
    return Fold(SHORT, 1, max(1, inside - taken - len(pending)), pending)


class Header(Widget):
    """Title and badges."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self.title_shown, self.badges = Title(), tuple[Badge, ...]()

    def compose(self) -> ComposeResult:
        yield Line(id="title")
        yield Horizontal(id="badges")
        yield Line(id="pending")

    def show(self, title: Title, badges: tuple[Badge, ...]) -> None:
        """What runs now."""
        if (title, badges) == (self.title_shown, self.badges):
            return
        self.title_shown, self.badges = title, badges
        self._fold()

    def on_resize(self, event: Resize) -> None:
        self._fold()

    def _fold(self) -> None:
        size = self.app.size
        folded = fold(self.badges, self.title_shown, size.width, size.height)
        self.set_class(folded.rows == 2, "-two-rows")
        self.set_class(folded.detail == SHORT, "-short")
        self.query_one("#title", Line).show(title_text(self.title_shown, folded.title))
        pending = self.query_one("#pending", Line)
        pending.display = bool(folded.pending)
        pending.show(Content(folded.pending))
        box = self.query_one("#badges", Horizontal)
        shown = {child.badge.name: child for child in box.query(BadgeWidget)}
        if list(shown) != [badge.name for badge in self.badges]:
            box.remove_children()
            box.mount_all(BadgeWidget(badge, folded.detail) for badge in self.badges)
            return
        for badge in self.badges:
            shown[badge.name].show(badge, folded.detail)


class Line(Widget):
    """One line of content that is never markup."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._content = Content("")

    def show(self, content: Content) -> None:
        if content.plain != self._content.plain or content.spans != self._content.spans:
            self._content = content
            self.refresh(layout=True)

    def render(self) -> Content:
        return self._content
