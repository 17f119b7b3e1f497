"""Whether the tour was shown on this machine."""

from __future__ import annotations

from pathlib import Path

from spark_chat import locations
from spark_chat.settings import noted

KEY = "tour_shown"


def shown(path: Path | None = None) -> bool:
    """Whether it was; True where that cannot be known, so that nobody gets it at every start. Raises nothing."""
    try:
        return noted.get(KEY, path) is True
    except (OSError, ValueError, RecursionError, locations.NoHome):
        return True


def note(path: Path | None = None) -> None:
    """It was shown. Where that cannot be written, it is shown again at the next start."""
    noted.put(KEY, True, path)
