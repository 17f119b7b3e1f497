"""How long the start under way still takes, told from its progress and from how the last one went."""

from __future__ import annotations

from collections.abc import Sequence

from spark_chat.engine.protocol import Progress
from spark_chat.meters.session import Stage
from spark_chat.meters.time_left import time_left


class Outlook:
    """`last`: the stages of the last start of the same configuration; empty where there was none."""

    def __init__(self, last: Sequence[Stage] = ()) -> None:
        self._last = last
        self._stage, self._since = "", 0.0

    def after(self, event: Progress) -> float | None:
        """Seconds until ready, as of `event`."""
        if event.stage != self._stage:
            self._stage, self._since = event.stage, event.time
        return time_left(self._last, event.stage, event.time - self._since, event.fraction)
