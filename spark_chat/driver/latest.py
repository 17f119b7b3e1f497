"""One piece of work at a time, of which only the latest counts: a new one calls off the one before and waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Latest:
    """The work may be called off by whoever waits for it, by the next one, or by `cancel`. It is cancelled once and
    then left to clean up in peace, however many want it gone."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._called_off = False
        self._turn = 0

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work`. Returns also where a later one took its place, even before it began."""
        try:
            latest = await self.cancel()
        except BaseException:
            work.close()
            raise
        if not latest:
            work.close()
            return
        task = self._task = asyncio.create_task(work)
        self._called_off = False
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            await self._end(task)
            raise
        if not task.cancelled():
            task.result()

    async def cancel(self) -> bool:
        """Call off what is under way, and wait until it has ended. False where somebody came later meanwhile."""
        self._turn += 1
        turn = self._turn
        if self._task is not None:
            await self._end(self._task)
        return turn == self._turn

    async def _end(self, task: asyncio.Task[None]) -> None:
        if self._task is task and not self._called_off:
            self._called_off = True
            task.cancel()
        if not task.done():
            await asyncio.wait([task])
