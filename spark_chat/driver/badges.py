"""The badges as they are shown: judged at each step of a start, watched by its counters, marked where saved settings
differ from those that run."""

from __future__ import annotations

from collections.abc import Callable

from spark_chat.driver import board
from spark_chat.driver.snapshot import Phase
from spark_chat.meters.numbers import Counters
from spark_chat.optimizations.optimization import Badge
from spark_chat.settings.schema import Settings


class Badges:
    """`change`: takes fields of the snapshot. `counters`: what was counted since the start at hand."""

    def __init__(self, change: Callable[..., None], counters: Callable[[], Counters]) -> None:
        self._change, self._counters = change, counters
        self.judged: tuple[Badge, ...] = ()
        self.running: Settings | None = None
        """Of the start at hand."""
        self._saved: Settings | None = None

    def begin(self, settings: Settings) -> None:
        """A start for `settings` begins."""
        self.running = settings
        self._saved = self._saved or settings

    def saved(self, settings: Settings) -> None:
        """As they stand in the file now."""
        self._saved = settings
        self.show()

    def now(self, judged: tuple[Badge, ...], **also: Phase) -> None:
        """They are these from now on; `also`: what else of the snapshot changes with them, in one."""
        self.judged = judged
        self.show(**also)

    def show(self, **also: Phase) -> None:
        """Tell how they stand, by the counters as they are."""
        badges = board.watched(self.judged, self._counters())
        pending: tuple[str, ...] = ()
        if self._saved is not None and self.running is not None:
            badges = board.marked(badges, self._saved)
            pending = board.pending(self.running, self._saved)
        self._change(badges=badges, pending=pending, **also)
