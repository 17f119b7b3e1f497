"""The app's own log: what it did and what went wrong, a line each, never a prompt and never an answer.

Lines are written by a thread, so that no call waits for the disk, and none raises: a chat does not end because its log
cannot be written.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from contextlib import suppress
from pathlib import Path

from spark_chat import locations

LIMIT = 1024 * 1024
"""Bytes; a file over this is cut to its newest quarter."""


class AppLog:
    """`path`: where it lies, made at the first line; None keeps nothing."""

    def __init__(self, path: Path | None, limit: int = LIMIT) -> None:
        self._path, self._limit = path, limit
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def write(self, text: str) -> None:
        """One line, with the time before it; line ends in `text` become spaces."""
        if self._path is None:
            return
        self._lines.put(f"{time.strftime('%Y-%m-%d %H:%M:%S')} [{os.getpid()}] {' '.join(text.split())}\n")
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_all, args=(self._path,), name="app-log", daemon=True)
            self._thread.start()

    def close(self, deadline_s: float = 1.0) -> None:
        """Write what is left, for `deadline_s` at most."""
        thread, self._thread, self._path = self._thread, None, None
        if thread is not None:
            self._lines.put(None)
            thread.join(deadline_s)

    def _write_all(self, path: Path) -> None:
        while (line := self._lines.get()) is not None:
            with suppress(OSError, locations.NoHome):
                locations.made(path.parent)
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                try:
                    os.write(descriptor, line.encode("utf-8", "replace"))
                    from spark_chat.engine.logs import shorten  # not before the first screen

                    shorten(descriptor, self._limit)
                finally:
                    os.close(descriptor)
