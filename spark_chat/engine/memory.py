"""Bytes of memory: held by this process and its children, and free on the machine."""

from __future__ import annotations

import psutil

from spark_chat.memory import control_group


def held_bytes() -> int:
    """Resident memory of this process and all its children.

    Each one's own pages, and once the most that any of them maps from files or shares: the kernel's exact figure (PSS)
    takes it a walk over every page, which for a large model would stall the answer.
    """
    me = psutil.Process()
    own = shared = 0
    for process in [me, *me.children(recursive=True)]:
        try:
            memory = process.memory_info()
        except psutil.Error:
            continue
        common = int(getattr(memory, "shared", 0))
        own += int(memory.rss) - common
        shared = max(shared, common)
    return own + shared


def available_bytes() -> int:
    """What could be taken without swapping: MemAvailable, or less where a control group allows less."""
    free = int(psutil.virtual_memory().available)
    room = control_group.room()
    return free if room is None else min(free, room.available)
