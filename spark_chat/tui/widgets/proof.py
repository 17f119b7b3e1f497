"""What is known of one optimization, under the header: asked for, running, proven how, counted, costs, gains.

The panel does not stand before the composer: typing goes on, and its counters move while an answer comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget

from spark_chat.optimizations.optimization import Badge, Published
from spark_chat.tui.plain import one_line

NAME_WIDTH = 11


@dataclass(frozen=True)
class About:
    """What an optimization says of itself, whatever runs."""

    label: str = ""
    costs: str = ""
    gains: str = ""
    published: tuple[Published, ...] = ()
    engine_figures: Mapping[str, Any] = field(default_factory=dict)
    """The engine's own figures of the last answer: they may be counted otherwise than ours."""


def value_text(value: Any) -> str:
    """A JSON value as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {value_text(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(value_text(item) for item in value)
    return str(value)


def facts_text(facts: Mapping[str, Any]) -> str:
    return " · ".join(f"{name.replace('_', ' ')} {value_text(value)}" for name, value in facts.items())


def proof_rows(badge: Badge, about: About) -> list[tuple[str, str]]:
    """(name, text) of each thing known, in order; nothing is left out for being inconvenient."""
    asked = "on" if badge.requested else "off"
    rows = [("asked for", f"{asked}; {badge.pending}" if badge.pending else asked)]
    word = f" ({badge.word})" if badge.word else ""
    rows.append(("runs", f"{badge.state.mark} {badge.state.value}{word}"))
    if badge.reason:
        rows.append(("because", badge.reason))
    if badge.warning:
        rows.append(("warning", badge.warning))
    rows.append(("proof", facts_text(badge.proof) or "none: the engine has not shown it at work"))
    if badge.counters:
        rows.append(("counted", facts_text(badge.counters)))
        if about.engine_figures:
            rows.append(("engine's", facts_text(about.engine_figures) + " (its own count, of the last answer)"))
    if about.costs:
        rows.append(("costs", about.costs))
    if about.gains:
        rows.append(("gains", about.gains))
    for number, item in enumerate(about.published):
        rows.append(("" if number else "published", f"{item.figure} — {item.source}"))
    return rows


def proof_text(badge: Badge, about: About, width: int) -> Content:
    """The panel's text in `width` cells: names in a column where there is room."""
    title = badge.label if badge.label == about.label or not about.label else f"{about.label}: {badge.label}"
    lines = [Content.assemble((one_line(title), "bold"), ("   esc closes, up and down scroll", "$text-muted"))]
    narrow = width < 50
    indent = 2 if narrow else NAME_WIDTH
    for name, text in proof_rows(badge, about):
        if narrow and name:
            lines.append(Content.styled(name, "$text-muted"))
        wrapped = Content(one_line(text)).wrap(max(8, width - indent))
        for number, line in enumerate(wrapped):
            head = "" if narrow or number else name
            lines.append(Content.assemble((head.ljust(indent), "$text-muted"), line))
    return Content("\n").join(lines)


class ProofText(Widget):
    """The text of the panel."""

    def __init__(self, badge: Badge, about: About) -> None:
        super().__init__()
        self.badge, self.about = badge, about

    def render(self) -> Content:
        return proof_text(self.badge, self.about, self.container_size.width)


class ProofPanel(VerticalScroll, can_focus=False):
    """Open on one badge; it is taken away when it is closed."""

    def __init__(self, badge: Badge, about: About) -> None:
        super().__init__()
        self._text = ProofText(badge, about)

    def compose(self) -> ComposeResult:
        yield self._text

    @property
    def badge(self) -> Badge:
        return self._text.badge

    def show(self, badge: Badge, about: About) -> None:
        """Another badge, or the same one moved on."""
        if (badge, about) != (self._text.badge, self._text.about):
            self._text.badge, self._text.about = badge, about
            self._text.refresh(layout=True)
