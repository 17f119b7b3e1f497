"""How many bytes are here, counted by several threads and told by one of its own a few times a second.

It tells while nothing comes too: the last bytes before a standstill are shown, and the rate falls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from spark_chat.pull.said import Moved

EVERY_S = 0.2


class Tally:
    """`size`: bytes in all. Tells from the start until `done`, or the process's end."""

    def __init__(self, size: int, say: Callable[[Moved], None]) -> None:
        self._size, self._say = size, say
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._present = self._received = 0
        self._file, self._checking, self._trouble = "", False, ""
        threading.Thread(target=self._tell, name="tally", daemon=True).start()

    def present(self, count: int, file: str) -> None:
        """So many bytes were here and are looked at; a negative count takes some back."""
        with self._lock:
            self._present += count
            self._file, self._checking, self._trouble = file, True, ""

    def received(self, count: int, file: str) -> None:
        """So many bytes came; a negative count takes some back."""
        with self._lock:
            self._received += count
            self._file, self._checking, self._trouble = file, False, ""

    def trouble(self, text: str, file: str) -> None:
        """What is in the way right now, in a few words."""
        with self._lock:
            self._file, self._checking, self._trouble = file, False, text

    def done(self) -> None:
        """The last word."""
        self._ended.set()
        with self._lock:
            self._checking, self._trouble = False, ""
        self._say(self._moved())

    def _tell(self) -> None:
        while not self._ended.wait(EVERY_S):
            self._say(self._moved())

    def _moved(self) -> Moved:
        with self._lock:
            return Moved(
                present=self._present, received=self._received, size=self._size, file=self._file,
                checking=self._checking, trouble=self._trouble,
            )  # fmt: skip
