"""The memory guard: no engine starts that can't have the memory it needs, and none before the last one's is back.

A GB10 that runs out of memory wedges without a word, and a stopped engine gives its memory back over seconds. So the
guard waits as long as more comes free, then lets the start go, or says how much is missing and who holds it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spark_chat.driver.shortage import TooLittleMemory
from spark_chat.machine import Machine
from spark_chat.memory import holders, page_cache
from spark_chat.memory.have import Have, look
from spark_chat.memory.settling import POLL_S, settle
from spark_chat.meters.units import size
from spark_chat.recipe.memory_floor import Floor, floor
from spark_chat.recipe.memory_need import GIB
from spark_chat.recipe.need import need, weight_files
from spark_chat.recipe.recipe import Recipe

SLACK = GIB
"""Bytes that may be missing of what there was before the last start: other programs have moved on meanwhile."""

WORTH_NAMING = GIB // 10
"""Bytes that a program must hold to be named."""

Say = Callable[[float | None, str], None]
"""say(fraction or None, text): what is waited for."""


@dataclass(frozen=True)
class Senses:
    """What the guard knows the world by; tests give their own. `pause`: between two looks, seconds."""

    look: Callable[[str, Machine], Have | None] = look
    processes: Callable[[bool], list[holders.Process]] = holders.running
    clock: Callable[[], float] = time.monotonic
    pause: float = POLL_S


class Guard:
    """One for all starts of one driver: it knows what there was before the last one."""

    def __init__(self, senses: Senses | None = None) -> None:
        self._senses = senses or Senses()
        self._before: int | None = None

    async def admit(self, recipe: Recipe, machine: Machine, say: Say) -> None:
        """Returns once a start may go. Raises TooLittleMemory. On a machine whose GPU shares its memory the model's
        own pages are taken out of the page cache first, since CUDA counts them as used."""
        wanted, have = await asyncio.to_thread(self._figures, recipe, machine)
        if have is None or wanted is None:
            return
        if have.free is not None and recipe.engine == "sglang":
            await asyncio.to_thread(_evict, recipe)
        have = await self._wait(recipe, machine, wanted, have, say)
        if have.available < wanted.size:
            found = await asyncio.to_thread(self._senses.processes, have.gpu)
            raise refusal(recipe, wanted, have, holders.largest(found))
        self._before = have.available

    def _figures(self, recipe: Recipe, machine: Machine) -> tuple[Floor | None, Have | None]:
        have = self._senses.look(recipe.engine, machine)
        return required(recipe, machine, have), have

    async def _wait(self, recipe: Recipe, machine: Machine, wanted: Floor, have: Have, say: Say) -> Have:
        """Until what the last engine held is back, as long as more comes."""
        goal = max(wanted.size, (self._before or 0) - SLACK)
        self._before = None

        def told(now: Have) -> None:
            say(now.available / goal, f"Waiting for memory: {size(now.available)} of {size(goal)} are available")

        senses = self._senses
        return await settle(lambda: senses.look(recipe.engine, machine), have, goal, told, senses.clock, senses.pause)


def required(recipe: Recipe, machine: Machine, have: Have | None) -> Floor | None:
    """What must be available for `recipe`. Reads the model's files: call it off the event loop."""
    own = have.total if have is not None and have.gpu else None
    given = recipe.args.get("mem_fraction_static")
    fraction = float(given) if recipe.engine == "sglang" and isinstance(given, int | float) else 0.0
    return floor(need(recipe, machine, own), fraction, machine.spark, recipe.memory_floor)


def _evict(recipe: Recipe) -> None:
    try:
        page_cache.evict(weight_files(Path(recipe.model.path)))
    except OSError:
        return  # the engine will say what is wrong with them


def refusal(recipe: Recipe, wanted: Floor, have: Have, found: list[holders.Holder]) -> TooLittleMemory:
    """In sentences. `found`: the programs that hold most."""
    where = "GPU memory" if have.gpu else "memory"
    what = f"{recipe.model.name} needs {size(wanted.size)} of {where} to start and "
    fits = wanted.size <= have.total
    what += f"{size(have.available)} are available." if fits else f"there are {size(have.total)} in all."
    why = wanted.why
    if have.limit is not None:
        why += f" The control group that this runs in may hold {size(have.limit)} (a container's limit)."
    large = [holder for holder in found if holder.size >= WORTH_NAMING]
    if fits and large:
        why += f" The largest programs: {', '.join(map(str, large))}."
    ways = ["choose a smaller model"]
    ways.append("lower engine.context" if recipe.memory_floor is None else "lower engine.memory_floor_gib")
    if fits:
        helps = large and large[0].size >= (wanted.size - have.available) // 4
        ways.insert(0, f"close {large[0].name}" if helps else "close other programs")
    remedy = f"{', '.join(ways[:-1])}{',' if len(ways) > 2 else ''} or {ways[-1]}."
    remedy = remedy[0].upper() + remedy[1:] + " `spark-chat stop` ends an engine that was left running."
    if recipe.memory_floor is None:
        remedy += " engine.memory_floor_gib sets another floor."
    key = "" if recipe.memory_floor is None else "engine.memory_floor_gib"
    return TooLittleMemory(what, why.strip(), remedy, have.available, wanted.size, key)
