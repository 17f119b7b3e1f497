"""How long a start still takes, by the stages of the last one of the same configuration. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.meters.session import Stage

TOLD = 0.1
"""Fraction of a stage from which on its own pace counts for more than the last start's."""
SOON = 3.0
"""Seconds that are not worth a word."""


def time_left(last: Sequence[Stage], stage: str, elapsed: float, fraction: float | None) -> float | None:
    """Seconds until ready. `stage`: the one under way, `elapsed` seconds old and `fraction` of it done (None: not
    known). `last`: the last start's, in order. None where that start had no such stage."""
    names = [one.name for one in last]
    if stage not in names:
        return None
    at = names.index(stage)
    whole = last[at].seconds
    if fraction is None:
        own = max(0.0, whole - elapsed)
    elif fraction >= TOLD:
        own = elapsed * (1 - min(1.0, fraction)) / fraction
    else:
        own = (1 - max(0.0, fraction)) * whole
    return own + sum(one.seconds for one in last[at + 1 :])


def said(left: float | None) -> str:
    """For a person, as coarse as the estimate is; empty where there is none, or it is over before it is read."""
    if left is None or left < SOON:
        return ""
    if left < 55:
        return f"about {max(5, round(left / 5) * 5)} s left"
    return f"about {max(1, round(left / 60))} min left"
