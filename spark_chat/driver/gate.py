"""What comes between a recipe and its start: enough memory, and kernels that are built before any weight is read.

Compilers and a model's weights never share the memory: what a recipe still needs compiled is compiled first, with no
model loaded (`prepare`), and the start then finds it done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spark_chat.driver.outlook import Outlook
from spark_chat.machine import Machine
from spark_chat.meters.session import Stage
from spark_chat.recipe.recipe import Recipe

if TYPE_CHECKING:
    from spark_chat.driver.client import Client
    from spark_chat.driver.guard import Guard
    from spark_chat.driver.last_run import LastRun
    from spark_chat.engine.protocol import Progress
    from spark_chat.settings.schema import Settings

Tell = Callable[[str, float | None, str], None]
"""tell(stage, fraction or None, text)."""

BUSY_S = 1.0
"""Between two tries where another spark-chat compiles, seconds."""
WARM = 0.5
"""Share of the weights in the page cache from which on a start counts as warm."""


class Gate:
    """`stages`: what the last opening took, as stages of the start. `cold`: whether that start had kernels to build
    or weights to read from the disk. `left`: seconds until ready after an event of the start."""

    def __init__(self, client_factory: Callable[[], Client], last_run: LastRun, guard: Guard | None = None) -> None:
        self._client_factory = client_factory
        self._last_run = last_run
        self._guard = guard
        self.stages: tuple[Stage, ...] = ()
        self.cold = self._opened = False
        self.left: Callable[[Progress], float | None] = lambda event: None

    async def open(self, recipe: Recipe, machine: Machine, tell: Tell) -> None:
        """Returns once the start may go. Raises TooLittleMemory. Cancelling it leaves no process."""
        if self._guard is None:
            from spark_chat.driver.guard import Guard

            self._guard = Guard()
        self.stages, self.cold = (), not await asyncio.to_thread(_cached, recipe)
        begun = time.monotonic()
        await self._guard.admit(recipe, machine, partial(tell, "memory"))
        self._note("memory", begun)
        if recipe.engine == "sglang" and machine.gpu is not None:
            begun = time.monotonic()
            if await self._build(recipe, machine, partial(tell, "kernels")):
                self.cold = True
                self._note("kernels", begun)
                await self._guard.admit(recipe, machine, partial(tell, "memory"))
        self._opened = True
        self.left = Outlook(await asyncio.to_thread(self._last_run.last_stages, recipe, self.cold)).after

    def note(self, settings: Settings, recipe: Recipe, stages: tuple[Stage, ...]) -> None:
        """The start that this let go came up: keep its settings and all its stages; nothing of an engine that was taken
        over. Touches the disk."""
        if stages:
            self._last_run.write(settings, recipe, (*self.stages, *stages), self.cold)

    def _note(self, stage: str, begun: float) -> None:
        if (took := time.monotonic() - begun) >= 0.05:
            self.stages += (Stage(stage, took),)

    async def _build(self, recipe: Recipe, machine: Machine, say: Callable[[float | None, str], None]) -> bool:
        """Whether anything was built. What can't be built is left to the start, which says why it fails."""
        from spark_chat.locations import NoHome
        from spark_chat.memory.meminfo import Memory, read
        from spark_chat.prepare.book import Book
        from spark_chat.prepare.plan import took
        from spark_chat.prepare.prepare import Busy, left, prepare
        from spark_chat.prepare.rehearsal import PrepareProblem

        how_long = ""

        def told(fraction: float | None, text: str) -> None:
            say(fraction, f"Kernels first, once a version ({how_long}), with no model loaded: {text}")

        while True:
            available = (read() or Memory()).available
            try:
                book = Book.here()
                todo = await asyncio.to_thread(left, recipe, machine, book, available)
                if not todo:
                    return False
                how_long = took(todo)
                await prepare(recipe, machine, book, available, told, self._client_factory)
                return True
            except Busy as busy:
                say(None, busy.what)
                await asyncio.sleep(BUSY_S)
            except (PrepareProblem, OSError, NoHome) as problem:
                say(None, f"Kernels could not be built beforehand: {problem}")
                return True


def _cached(recipe: Recipe) -> bool:
    """Whether most of the weights are in the page cache; True where that can't be told."""
    from spark_chat.memory.page_cache import resident
    from spark_chat.recipe.need import weight_files

    try:
        files = weight_files(Path(recipe.model.path))
        return sum(map(resident, files)) >= WARM * sum(file.stat().st_size for file in files)
    except OSError:
        return True
