"""The end of a log that grows: clean lines, each given once. The worker's log is hostile text; see `engine.logs`."""

from __future__ import annotations

import os
from pathlib import Path

from spark_chat.engine.logs import clean

FIRST = 512 * 1024
"""Bytes from the end that the first look takes in."""


class Tail:
    """`path` may grow, be cut to its newest quarter by its writer, or go away. `first`: bytes of the first look."""

    def __init__(self, path: Path, first: int = FIRST) -> None:
        self.path, self._first = path, first
        self._at: int | None = None
        self._unfinished = b""

    def new(self) -> list[str]:
        """Lines that came since the last call; at the first call those at the end. A line without its end waits for
        it. Raises OSError."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            at = max(0, size - self._first) if self._at is None else self._at
            cut = self._at is None and at > 0
            if size < at:  # it was cut by its writer, and begins with what is newest
                at, self._unfinished = 0, b""
            data = self._unfinished + os.pread(descriptor, max(size - at, 0), at)
        finally:
            os.close(descriptor)
        self._at = size
        whole, _, self._unfinished = data.rpartition(b"\n")
        if cut:
            whole = whole.partition(b"\n")[2]
        return clean(whole)

    def rest(self) -> list[str]:
        """The last line where its end has not come: for who reads once."""
        return clean(self._unfinished)
