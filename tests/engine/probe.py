"""A client and its events, for tests: wait for an event of a kind instead of sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import AnyEvent, Delta, Done, Failed, Generate, Ready, Sampling, Turn
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests import waiting

Kind = TypeVar("Kind")


def recipe(model: Path, context: int = 2048, mtp: bool = False, **more: Any) -> Recipe:
    """A llama.cpp recipe for the small model."""
    requested = {"humming": True, "fp8_head": True, "mtp": mtp}
    return Recipe(
        engine="llama.cpp", model=ModelRef(model.name, str(model)), context=context, requested=requested, **more
    )


def ask(id: str, text: str, max_tokens: int = 32, temperature: float = 0.0, **more: Any) -> Generate:
    """A one-turn prompt, greedy unless told otherwise."""
    return Generate(
        id=id,
        messages=[Turn("user", text)],
        sampling=Sampling(temperature=temperature, max_tokens=max_tokens, **more),
    )


class Probe:
    """An EngineClient that keeps its events; ends its worker on leaving."""

    def __init__(self, worker: str = "spark_chat.engine.worker") -> None:
        self.client = EngineClient(worker)
        self.events: list[AnyEvent] = []
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Probe:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.client.stop()

    def take(self, event: AnyEvent) -> None:
        self.events.append(event)
        self._changed.set()

    async def start(self, recipe: Recipe, log: Path | None = None) -> Ready | Failed:
        """Start, and wait for what comes of it."""
        await self.client.start(recipe, self.take, log)
        return await self.until(lambda event: isinstance(event, Ready | Failed))

    async def until(self, wanted: Callable[[AnyEvent], bool], after: int = 0, seconds: float = 60) -> Any:
        """The first event from position `after` on that is wanted."""
        async with asyncio.timeout(seconds):
            while True:
                for event in self.events[after:]:
                    if wanted(event):
                        return event
                self._changed.clear()
                await self._changed.wait()

    async def gone(self) -> None:
        """Until the worker has ended."""
        await waiting.until(lambda: not self.client.alive)

    def raw(self, frame: bytes) -> None:
        """Bytes to the worker, past the client's typed commands."""
        visit = self.client._visit
        assert visit is not None
        visit.writer.write(frame)

    async def answer(self, command: Generate) -> tuple[list[Delta], Done | Failed]:
        """All Deltas with tokens of one answer, and its end."""
        self.client.send(command)
        end = await self.until(lambda event: isinstance(event, Done | Failed) and event.id == command.id)
        deltas = [event for event in self.events if isinstance(event, Delta) and event.id == command.id]
        return [delta for delta in deltas if delta.tokens], end
