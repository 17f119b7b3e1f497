"""The styles that text is drawn with, by what it is. One palette a theme."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.style import Style

STRONG, EMPHASIS, STRIKE, CODE, LINK, URL = 1, 2, 4, 8, 16, 32
"""Bits of inline markup; they combine."""

ROLES = (
    "text", "muted", "faint", "heading", "title", "code", "code-bar", "code-label", "inline-code", "quote",
    "quote-text", "marker", "link", "url", "rule", "table-head", "keyword", "string", "number", "comment", "name",
    "type", "builtin", "error", "warning", "success", "you", "model", "fold", "selection", "more",
)  # fmt: skip
"""Everything that has a style of its own."""


@dataclass(frozen=True, eq=False)
class Palette:
    """`styles` by role; a role that is missing is drawn as text. Two palettes are never equal: compare by identity."""

    styles: Mapping[str, Style] = field(default_factory=dict)
    code_bar: str = "  "
    """What a line of code starts with: something visible where code has no background of its own."""
    plain: bool = False
    """In accessible mode: no lines and no boxes are drawn, and a table is read row by row."""
    _inline: dict[tuple[str, int], Style] = field(default_factory=dict, repr=False)

    def style(self, role: str) -> Style:
        """The style of a role."""
        found = self.styles.get(role)
        return found if found is not None else self.styles.get("text", _NONE)

    def inline(self, role: str, bits: int) -> Style:
        """The style of inline markup in text of the given role."""
        if not bits:
            return self.style(role)
        key = (role, bits)
        if (found := self._inline.get(key)) is None:
            found = self.style(role)
            if bits & CODE:
                found = found + self.style("inline-code")
            if bits & LINK:
                found = found + self.style("link")
            if bits & URL:
                found = found + self.style("url")
            found += Style(
                bold=True if bits & STRONG else None,
                italic=True if bits & EMPHASIS else None,
                strike=True if bits & STRIKE else None,
            )
            self._inline[key] = found
        return found


_NONE = Style()
