"""A moment of the clock for a person to read, whatever number a file or another program gives for one."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

UNKNOWN = "at an unknown time"


def seconds(value: Any) -> float:
    """What should be Unix seconds, as such; 0.0 for what is no number, or none that a calendar reaches."""
    return float(value) if local(value) is not None else 0.0


def local(value: Any) -> datetime | None:
    """Unix seconds as this machine's clock shows them; None where `value` is no moment."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value) if math.isfinite(value) else None
    except (ValueError, OverflowError, OSError):
        return None


def minute(value: Any) -> str:
    """Such as 2026-11-30 14:02."""
    moment = local(value)
    return UNKNOWN if moment is None else f"{moment:%Y-%m-%d %H:%M}"
