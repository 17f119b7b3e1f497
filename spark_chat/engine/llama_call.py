"""One blocking request to llama.cpp on a thread of its own; its chunks arrive on the event loop with their times."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from typing import Any

from spark_chat.engine.interface import EngineFailure

PATIENCE_S = 0.5
"""How long a stopped request may take to its first chunk, which tells the prompt's tokens."""


class Call:
    """`stop` ends it at its next chunk. Before the first one llama.cpp turns the prompt into tokens, megabytes for
    seconds, and can't be stopped: past PATIENCE_S it is left alone then, and its thread ends by itself."""

    def __init__(self, server: Any, body: dict[str, Any]) -> None:
        self._server, self._body = server, body
        self._loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._waiting: deque[tuple[float, dict[str, Any]]] = deque()
        self._arrived = asyncio.Event()
        self._finished = asyncio.Event()
        self._started = self._told = False
        self.error: EngineFailure | None = None
        self.ended_at = 0.0

    def start(self) -> None:
        self._started = True
        threading.Thread(target=self._run, name="llama", daemon=True).start()

    @property
    def over(self) -> bool:
        """Nothing is left to take and nothing will come."""
        return self._finished.is_set() and not self._waiting

    async def chunks(self) -> list[tuple[float, dict[str, Any]]]:
        """What came since the last call; waits for something."""
        await self._arrived.wait()
        self._arrived.clear()
        self._told = False
        found = []
        while self._waiting:
            found.append(self._waiting.popleft())
        return found

    def stop(self) -> None:
        """End soon."""
        self._stop.set()
        if not self._started:
            self._leave()
        elif not self.ended_at:  # no chunk yet
            self._loop.call_later(PATIENCE_S, self._leave)

    def _leave(self) -> None:
        if not self.ended_at:
            self.ended_at = time.monotonic()
            self._end()

    async def joined(self) -> None:
        """Nothing more comes of it."""
        await self._finished.wait()

    def _run(self) -> None:
        error = None
        try:
            self._server.handle_chat_completions(self._body, self._take)
        except Exception as raised:
            error = EngineFailure("request", "llama.cpp does not take this request.", str(raised))
        if not self._finished.is_set():
            self.error = error
            self.ended_at = self.ended_at or time.monotonic()
        with contextlib.suppress(RuntimeError):  # the loop is closed: the process ends
            self._loop.call_soon_threadsafe(self._end)

    def _take(self, chunk: Any) -> bool:
        moment = time.monotonic()
        if isinstance(chunk, dict) and not self._finished.is_set():
            self._waiting.append((moment, chunk))
            self.ended_at = moment
            if not self._told:
                self._told = True
                self._loop.call_soon_threadsafe(self._arrived.set)
        return self._stop.is_set()

    def _end(self) -> None:
        self._finished.set()
        self._arrived.set()
