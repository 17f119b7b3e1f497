"""Prompts on which a configuration is slower than the first: shown one by one, not averaged away.

Where the ratio's interval is below 1 it loses there (▼), also where there is one run alone and so no interval; where
the interval reaches 1, its runs vary by more than it is slower (▽).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_chat.settings.problem import printable

NAMED = 12
"""Prompts that a line names, at most."""


def mark(prompt: dict[str, Any] | None) -> str:
    """What stands before the figure of a prompt in a table."""
    if prompt is None or not prompt["loses"]:
        return ""
    return "▽ " if _unclear(prompt) else "▼ "


def lines(record: dict[str, Any]) -> list[str]:
    """A line a configuration for either kind, and an empty one; none where nothing is slower."""
    found = []
    for item in record["configurations"]:
        slower = [prompt for prompt in item["prompts"] if prompt["loses"]]
        for said, some in (
            (f"▼ {item['name']} loses on", [prompt for prompt in slower if not _unclear(prompt)]),
            (f"▽ {item['name']} is slower, by less than its runs vary, on", list(filter(_unclear, slower))),
        ):
            if some:
                found.append(printable(f"{said} {_named(some)}"))
    return [*found, ""] if found else []


def _unclear(prompt: dict[str, Any]) -> bool:
    high = prompt["ratio_to_first"]["high"]
    return high is not None and high >= 1


def _named(prompts: Sequence[dict[str, Any]]) -> str:
    more = f" and {len(prompts) - NAMED} more" if len(prompts) > NAMED else ""
    return ", ".join(f"{prompt['name']} {prompt['ratio_to_first']['median']:.2f}x" for prompt in prompts[:NAMED]) + more
