"""Waiting for memory that an ended program gives back: as long as more comes, and not without end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from spark_chat.memory.have import Have

POLL_S = 0.25
STEADY_S = 2.0
"""Seconds without growth after which nothing more is waited for."""
GROWTH = 1 << 26
"""Bytes that count as growth."""
DEADLINE_S = 60.0


async def settle(
    look: Callable[[], Have | None],
    first: Have,
    goal: int,
    say: Callable[[Have], None] = lambda have: None,
    clock: Callable[[], float] = time.monotonic,
    pause: float = POLL_S,
) -> Have:
    """What there is once `goal` bytes are available, or no more come. `first`: what there is now. `look` is called off
    the event loop; None leaves what was known. `say`: at each look."""
    begun = grew = clock()
    have, best = first, first.available
    while have.available < goal <= have.total:
        now = clock()
        if now - grew >= STEADY_S or now - begun >= DEADLINE_S:
            break
        say(have)
        await asyncio.sleep(pause)
        seen = await asyncio.to_thread(look)
        have = seen or have
        if have.available >= best + GROWTH:
            grew, best = clock(), have.available
    return have
