"""Noticing that a file was changed by another program, cheaply enough to ask once a second."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Signature(NamedTuple):
    """Changes whenever a file is edited in place or replaced."""

    mtime_ns: int
    size: int
    inode: int


def signature(path: Path | None) -> Signature | None:
    """Of what is at `path` now, links followed; None where nothing is, or it can't be asked. One stat call."""
    if path is None:
        return None
    try:
        about = path.stat()
    except (OSError, ValueError):
        return None
    return Signature(about.st_mtime_ns, about.st_size, about.st_ino)
