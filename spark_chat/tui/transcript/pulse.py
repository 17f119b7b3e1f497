"""When the transcript updates itself: as often as is worth it, seldomer where an update costs more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter, thread_time

from spark_chat.tui.pace import SHARE

PERIOD = 0.05
"""Seconds between two updates while text streams: at most 20 a second, and none when nothing comes."""
LONGEST_PERIOD = 0.25
AT_LEAST = 0.001


class Pulse:
    """Calls `due` once after each `wake`. The loop's own timer: Textual's skips its only tick where the process got no
    processor just then."""

    def __init__(self, due: Callable[[], object]) -> None:
        self.share = SHARE
        """Of a core, for updates and their painting: where they cost more, they come less often."""
        self._due = due
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._cpu = 0.0
        self._cost = 0.0

    @property
    def waits(self) -> bool:
        """An update is to come."""
        return self._timer is not None

    def wake(self, soon: bool = False) -> None:
        """Have an update when its time comes, or at once."""
        if self._timer is None:
            period = min(LONGEST_PERIOD, max(PERIOD, self._cost / self.share))
            wait = AT_LEAST if soon else max(AT_LEAST, self._last + period - perf_counter())
            self._timer = asyncio.get_running_loop().call_later(wait, self._due)

    def begin(self) -> float:
        """An update begins now: it learns what one costs, by the thread's CPU time since the last, which had painting
        in it. The time of perf_counter()."""
        self._timer = None
        now, cpu = perf_counter(), thread_time()
        if now - self._last < 2 * LONGEST_PERIOD:
            self._cost += ((cpu - self._cpu) - self._cost) / 8
        self._last, self._cpu = now, cpu
        return now

    def end(self) -> None:
        """No update comes any more."""
        if self._timer is not None:
            self._timer.cancel()
