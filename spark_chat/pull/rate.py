"""Bytes a second, and the time that is left. Pure: the caller gives the times, in seconds."""

from __future__ import annotations

from collections import deque

WINDOW_S = 10.0
"""The rate is that of the last so many seconds."""
LEAST_S = 1.0
"""Sooner no rate is told: the first pieces come out of buffers."""


class Rate:
    """Feed it how many bytes have come in all, as they do."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def feed(self, time: float, received: int) -> None:
        self._seen.append((time, received))
        while len(self._seen) > 2 and self._seen[1][0] <= time - WINDOW_S:
            self._seen.popleft()

    @property
    def bytes_per_s(self) -> float | None:
        """None until there is something to tell by."""
        if not self._seen:
            return None
        (began, before), (now, after) = self._seen[0], self._seen[-1]
        return (after - before) / (now - began) if now - began >= LEAST_S else None

    def left_s(self, remaining: int) -> float | None:
        """Seconds for `remaining` bytes; None where nothing is coming."""
        rate = self.bytes_per_s
        return remaining / rate if rate else None
