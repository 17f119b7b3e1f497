"""Asks the worker again and again how much memory it holds, while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from spark_chat.engine.protocol import Stats

POLL_S = 2.0
"""Between two looks, seconds."""


class Polling:
    """`send`: to the worker."""

    def __init__(self, send: Callable[[Stats], None]) -> None:
        self._send = send
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self._task = asyncio.create_task(self._ask())

    def end(self) -> asyncio.Task[None] | None:
        """What ends, to be waited for; None where nothing ran."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        return task

    async def _ask(self) -> None:
        while True:
            self._send(Stats())
            await asyncio.sleep(POLL_S)
