"""How far setting this machine up has come, from one start of the app to the next."""

from __future__ import annotations

from pathlib import Path

from spark_chat import locations
from spark_chat.settings import noted

KEY = "setup"
SHOWN, BEGUN, DONE = "shown", "begun", "done"


def standing(path: Path | None = None) -> str:
    """SHOWN, BEGUN or DONE; empty at a first start. DONE where it cannot be known, so that nobody is asked at every
    start. Raises nothing."""
    try:
        found = noted.get(KEY, path)
    except (OSError, ValueError, RecursionError, locations.NoHome):
        return DONE
    return found if found in (SHOWN, BEGUN, DONE) else ""


def note(how_far: str, path: Path | None = None) -> None:
    """Where that cannot be written, the next start asks again."""
    noted.put(KEY, how_far, path)
