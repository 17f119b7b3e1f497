"""Waiting for what tells nobody when it changes: a file, a lock, a server or the end of another process.

The only place in the tests that looks again and again. What lies in a test's own process has an event, a future or a
queue, and is waited for by that.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

PATIENCE_S = 30.0
LOOK_S = 0.01


def comes(holds: Callable[[], object], seconds: float = PATIENCE_S, every: float = LOOK_S) -> bool:
    """Block until `holds()`, `seconds` at most. Whether it does."""
    ends = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < ends:
        time.sleep(every)
    return bool(found)


async def until(
    holds: Callable[[], object], what: str = "", seconds: float = PATIENCE_S, every: float = LOOK_S
) -> None:
    """The same beside what the event loop does. AssertionError with `what` where it does not; `seconds` may be math.inf
    where somebody else ends the wait."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, f"waited {seconds:g} s for {what or holds}"
        await asyncio.sleep(every)


async def ended(pid: int | None, seconds: float = PATIENCE_S) -> None:
    """Until a process is over, also one that is not reaped yet; the kernel tells."""
    assert pid is not None
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, over.set)
    try:
        async with asyncio.timeout(seconds):
            await over.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
