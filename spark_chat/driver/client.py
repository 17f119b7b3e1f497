"""What the driver needs of the engine's client: `EngineClient` is it, and tests put a fake in its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from spark_chat.engine.protocol import AnyCommand, AnyEvent, Left
from spark_chat.recipe.recipe import Recipe


def alone() -> Client:
    """For what is measured: an engine that was started for it, shared with nobody, and not left behind."""
    from spark_chat.engine.client import EngineClient

    return EngineClient(alone=True)


class Client(Protocol):
    """One worker at a time; see `EngineClient` for what each method promises."""

    async def start(
        self,
        recipe: Recipe,
        on_event: Callable[[AnyEvent], None],
        log: Path | None = None,
        admit: Callable[[], Awaitable[None]] | None = None,
    ) -> None: ...

    def send(self, command: AnyCommand) -> None: ...

    async def stop(self) -> None: ...

    async def leave(self) -> Left | None: ...

    def log_end(self, lines: int = 40) -> list[str]: ...
