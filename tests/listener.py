"""Keeps what a driver tells, for tests."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from spark_chat.driver.snapshot import Answered, Phase, Piece, Update


class Listener:
    """Keeps every update; `await until(...)` waits for one instead of sleeping."""

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self._changed = asyncio.Event()

    def __call__(self, update: Update) -> None:
        self.updates.append(update)
        self._changed.set()

    async def until(self, wanted: Callable[[Update], bool], seconds: float = 10) -> Any:
        """The first update that is wanted, among those that came and those to come."""
        async with asyncio.timeout(seconds):
            position = 0
            while True:
                for update in self.updates[position:]:
                    position += 1
                    if wanted(update):
                        return update
                self._changed.clear()
                await self._changed.wait()

    async def answered(self, id: str, seconds: float = 10) -> Answered:
        """The end of the answer `id`."""
        found: Answered = await self.until(lambda update: isinstance(update, Answered) and update.id == id, seconds)
        return found

    def text(self, id: str) -> str:
        """All text of the answer `id` so far."""
        return "".join(update.text for update in self.updates if isinstance(update, Piece) and update.id == id)

    def phases(self) -> list[Phase]:
        """The phases that were shown, in their order, each change once."""
        shown = [update.snapshot.phase for update in self.updates if hasattr(update, "snapshot")]
        return [phase for phase, _ in itertools.groupby(shown)]
