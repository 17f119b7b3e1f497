"""What a headless run says while it goes on: stages and their progress, a line each, for a person on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spark_chat.driver.lingering import QUEUE, took_over
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.meters.time_left import said
from spark_chat.meters.units import seconds

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Progress

STEP = 0.1
"""A stage that tells its fraction is said again after this much more of it."""


class Narrator:
    """`write` takes one line. Nothing is said twice."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._stage = ""
        self._fraction = 0.0
        self._notes: tuple[str, ...] = ()
        self._queued: Progress | None = None

    def say(self, text: str) -> None:
        """One line."""
        self._write(text)

    def snapshot(self, snapshot: Snapshot) -> None:
        """Say what is new in the start."""
        if snapshot.recipe is not None and snapshot.recipe.notes != self._notes:
            self._notes = snapshot.recipe.notes
            for note in self._notes:
                self.say(note)
        progress = snapshot.progress
        if progress is not None and progress.stage == QUEUE:
            if self._queued != progress:
                self.say(progress.text)
            self._queued = progress
            return
        if progress is None or snapshot.phase in (Phase.READY, Phase.FAILED):
            return
        fraction = progress.fraction or 0.0
        if progress.stage == self._stage and fraction < min(1.0, self._fraction + STEP):
            return
        if progress.stage == self._stage and fraction <= self._fraction:
            return
        self._stage, self._fraction = progress.stage, fraction
        left = said(snapshot.left_s)
        self.say((progress.text or progress.stage) + (f" ({left})" if left else ""))

    def started(self, snapshot: Snapshot) -> None:
        """Say that the engine is up, with what."""
        ready, recipe = snapshot.ready, snapshot.recipe
        if snapshot.phase is Phase.READY and ready is not None and recipe is not None:
            took = "" if snapshot.ready_s is None else f" after {seconds(snapshot.ready_s)}"
            how = f": {over}" if (over := took_over(ready, recipe.fresh)) else took
            self.say(f"{ready.engine} {ready.version}".rstrip() + f" is ready with {recipe.model.name}{how}")
