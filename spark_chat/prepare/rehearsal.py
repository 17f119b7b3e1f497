"""The engine itself on a shortened checkpoint: it starts, warms up, and is stopped. What it compiled stays."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from spark_chat.engine.protocol import AnyEvent, Failed, Progress, Ready
from spark_chat.prepare.shortened import lay_out
from spark_chat.recipe.recipe import ModelRef, Recipe

ARGS: dict[str, Any] = {"load_format": "dummy", "max_total_tokens": 32768}
"""No weights are read, and the caches stay small; both leave the kernels as they are."""
CONTEXT = 16384
KEPT = "What was compiled is kept: the same again goes on from there."

Report = Callable[[float | None, str], None]
"""report(fraction or None, text)."""


class Client(Protocol):
    """What is needed of `EngineClient`."""

    async def start(self, recipe: Recipe, on_event: Callable[[AnyEvent], None], log: Path | None = None) -> None: ...

    async def stop(self) -> None: ...

    def log_end(self, lines: int = 40) -> list[str]: ...


class PrepareProblem(Exception):
    """`what` went wrong and what to `remedy`, in sentences. What was compiled by then is kept."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what, self.remedy = what, remedy


async def rehearse(recipe: Recipe, client: Client, report: Report, jobs: int, place: Path) -> None:
    """Returns once the engine was ready. Raises PrepareProblem. Cancelling it ends the engine and all its children.

    `place`: a folder that is nobody else's. What a kill left in it goes first, and it is gone at the end.
    """
    outcome: asyncio.Future[AnyEvent] = asyncio.get_running_loop().create_future()

    def on_event(event: AnyEvent) -> None:
        if isinstance(event, Progress):
            report(event.fraction, event.text)
        elif isinstance(event, Ready | Failed) and not outcome.done():
            outcome.set_result(event)

    short = place / Path(recipe.model.path).name
    try:
        await asyncio.to_thread(_lay_out_anew, Path(recipe.model.path), short)
        await client.start(shortened_recipe(recipe, short, jobs), on_event)
        event = await outcome
    finally:
        await asyncio.shield(client.stop())
        shutil.rmtree(place, ignore_errors=True)
    if isinstance(event, Failed):
        remedy = KEPT if event.code == "died" else event.remedy  # there is no conversation here to speak of
        raise PrepareProblem(" ".join(filter(None, [event.what, event.why])), remedy)


def _lay_out_anew(checkpoint: Path, folder: Path) -> None:
    """Raises PrepareProblem; OSError where the folder can't be made."""
    if folder.parent.exists():
        shutil.rmtree(folder.parent)
    folder.mkdir(parents=True)
    try:
        lay_out(checkpoint, folder)
    except (OSError, ValueError) as error:
        raise PrepareProblem(f"{checkpoint.name} can't be read: {error}.") from error


def shortened_recipe(recipe: Recipe, folder: Path, jobs: int) -> Recipe:
    """The same kernels, without the weights and without what only a chat needs."""
    return replace(
        recipe,
        model=ModelRef(recipe.model.name, str(folder)),
        context=min(recipe.context or CONTEXT, CONTEXT),
        args={**recipe.args, **ARGS},
        environment={**recipe.environment, "MAX_JOBS": str(jobs)},
        linger_s=0,
        strict=False,
    )
