"""How many bytes are here, counted by several threads and told a few times a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from spark_chat.pull.said import Moved

EVERY_S = 0.2


class Tally:
    """`size`: bytes in all."""

    def __init__(self, size: int, say: Callable[[Moved], None]) -> None:
        self._size, self._say = size, say
        self._lock = threading.Lock()
        self._present = self._received = 0
        self._told = 0.0

    def present(self, count: int, file: str) -> None:
        """So many bytes were here and are looked at; a negative count takes some back."""
        self._add(count, 0, file, checking=True)

    def received(self, count: int, file: str) -> None:
        """So many bytes came; a negative count takes some back."""
        self._add(0, count, file)

    def trouble(self, text: str, file: str) -> None:
        """What is in the way right now, in a few words."""
        self._add(0, 0, file, trouble=text)

    def done(self) -> None:
        self._add(0, 0, "", now=True)

    def _add(
        self, present: int, received: int, file: str, checking: bool = False, trouble: str = "", now: bool = False
    ) -> None:
        with self._lock:
            self._present += present
            self._received += received
            at = time.monotonic()
            if now or trouble or at - self._told >= EVERY_S:
                self._told = at
                self._say(
                    Moved(
                        present=self._present, received=self._received, size=self._size, file=file,
                        checking=checking, trouble=trouble,
                    )
                )  # fmt: skip
