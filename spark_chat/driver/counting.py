"""Asking the engine how many tokens something is: exact where it tells, nothing where it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import uuid4

from spark_chat.engine.protocol import AnyCommand, Count, Counted, ProtocolError, Turn


class Counter(Protocol):
    """Counts tokens: exactly, or not at all."""

    async def count(self, messages: Sequence[Turn], texts: Sequence[str], thinking: bool) -> Counted | None: ...


class Counting:
    """`send` puts a command to the engine; `up` says whether it takes any."""

    def __init__(self, send: Callable[[AnyCommand], None], up: Callable[[], bool]) -> None:
        self._send, self._up = send, up
        self._asked: dict[str, asyncio.Future[Counted | None]] = {}

    async def count(self, messages: Sequence[Turn], texts: Sequence[str], thinking: bool) -> Counted | None:
        """The tokens of `messages` as a prompt and of each of `texts`; None where the engine cannot tell, or goes."""
        if not self._up():
            return None
        command = Count(id=uuid4().hex, messages=list(messages), texts=list(texts), thinking=thinking)
        future = self._asked[command.id] = asyncio.get_running_loop().create_future()
        try:
            self._send(command)
            found = await future
        except ProtocolError:
            return None
        finally:
            del self._asked[command.id]
        return found if found is not None and found.prompt_tokens is not None else None

    def take(self, event: Counted) -> None:
        """What the engine counted."""
        future = self._asked.get(event.id)
        if future is not None and not future.done():
            future.set_result(event)

    def stop(self) -> None:
        """The engine is gone: nothing more is told."""
        for future in self._asked.values():
            if not future.done():
                future.set_result(None)
