"""A line of keys and what each does, broken between two of them and never within one."""

from __future__ import annotations

from collections.abc import Sequence

GAP = "   "


def packed(items: Sequence[str], width: int) -> str:
    """As many of `items` on each line as `width` columns take."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(GAP) + len(item) <= width:
            lines[-1] += GAP + item
        else:
            lines.append(item)
    return "\n".join(lines)
