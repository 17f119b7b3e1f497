"""One piece of work at a time, of which only the latest counts: a new one cancels the one before and waits for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any


class Latest:
    """The work may be called off by whoever waits for it, by the next one, or by `cancel`."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work`. Returns also where a later one took its place."""
        try:
            await self.cancel()
        except BaseException:
            work.close()
            raise
        task = self._task = asyncio.create_task(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():  # the caller was cancelled, not this work by a later one
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                raise

    async def cancel(self) -> None:
        """Call off what is under way, and wait until it has ended."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
