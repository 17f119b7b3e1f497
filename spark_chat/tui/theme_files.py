"""Noticing that a person's theme files were saved, cheaply enough to ask once a second."""

from __future__ import annotations

import os

from spark_chat import locations

State = tuple[tuple[str, int, int, int], ...]


def state() -> State:
    """Of the files as they are now: changes whenever one is saved, comes or goes. Raises nothing."""
    try:
        with os.scandir(locations.own_themes()) as entries:
            files = [entry for entry in entries if entry.name.endswith(".toml")]
        about = [(entry.name, entry.stat()) for entry in files]
    except (OSError, locations.NoHome):
        return ()
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in about))


class ThemeFiles:
    """`look` says whether anything changed since the look before."""

    def __init__(self) -> None:
        self._seen = state()

    def look(self) -> bool:
        seen, self._seen = self._seen, state()
        return seen != self._seen
