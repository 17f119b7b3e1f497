"""How the transcript looks: the style of each role as a component class, so that themes and app CSS decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

from spark_chat.text.palette import ROLES, Palette

if TYPE_CHECKING:
    from textual.widget import Widget

COMPONENTS = {f"transcript--{role}" for role in ROLES}

CSS = """
Transcript {
    height: 1fr;
    background: $background;
    color: $foreground;
    overflow-x: hidden;
    overflow-y: scroll;
    scrollbar-size-vertical: 1;
    & > .transcript--muted { color: $foreground 65%; }
    & > .transcript--faint { color: $foreground 45%; }
    & > .transcript--title { color: $primary; text-style: bold; }
    & > .transcript--heading { text-style: bold; }
    & > .transcript--code { background: $surface; }
    & > .transcript--code-bar { color: $foreground 30%; }
    & > .transcript--code-label { color: $foreground 50%; }
    & > .transcript--inline-code { color: $text-accent; }
    & > .transcript--quote { color: $primary 70%; }
    & > .transcript--quote-text { color: $foreground 80%; }
    & > .transcript--marker { color: $primary; }
    & > .transcript--link { text-style: underline; }
    & > .transcript--url { color: $foreground 55%; }
    & > .transcript--rule { color: $foreground 30%; }
    & > .transcript--table-head { text-style: bold; }
    & > .transcript--keyword { color: $text-accent; }
    & > .transcript--string { color: $text-success; }
    & > .transcript--number { color: $text-warning; }
    & > .transcript--comment { color: $foreground 50%; text-style: italic; }
    & > .transcript--name { color: $text-primary; }
    & > .transcript--type { color: $text-warning; }
    & > .transcript--builtin { color: $text-secondary; }
    & > .transcript--error { color: $text-error; }
    & > .transcript--warning { color: $text-warning; }
    & > .transcript--success { color: $text-success; }
    & > .transcript--you { color: $text-primary; text-style: bold; }
    & > .transcript--model { color: $text-accent; text-style: bold; }
    & > .transcript--fold { color: $foreground 65%; }
    &:ansi > .transcript--muted, &:ansi > .transcript--fold, &:ansi > .transcript--url { text-style: dim; }
    &:ansi > .transcript--faint, &:ansi > .transcript--rule, &:ansi > .transcript--code-label { text-style: dim; }
    &:ansi > .transcript--code-bar { text-style: dim; }
    &:ansi > .transcript--comment { text-style: dim italic; }
    & > .transcript--more { background: $primary; color: $background; }
    &:nocolor > .transcript--more { text-style: reverse; }
}
"""


_INSIDE = (
    "inline-code", "link", "url", "keyword", "string", "number", "comment", "name", "type", "builtin", "code-bar",
    "code-label",
)  # fmt: skip
"""Roles of text inside other text: they take its background."""


def palette_of(widget: Widget, plain: bool = False) -> Palette:
    """The palette of the theme in use. `plain`: in accessible mode."""
    styles = {"text": widget.rich_style}
    for role in ROLES:
        if role not in ("text", "selection"):
            style = widget.get_component_rich_style(f"transcript--{role}")
            styles[role] = _on_anything(style) if role in _INSIDE else style
    styles["selection"] = widget.screen.get_component_rich_style("screen--selection")
    told_apart = styles["code"].bgcolor != styles["text"].bgcolor and not widget.app.no_color
    return Palette(styles, "  " if told_apart or plain else "│ ", plain)


def _on_anything(style: Style) -> Style:
    return Style(
        color=style.color, bold=style.bold or None, dim=style.dim or None, italic=style.italic or None,
        underline=style.underline or None, reverse=style.reverse or None,
    )  # fmt: skip
