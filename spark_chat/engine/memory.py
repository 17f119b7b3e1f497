"""Bytes of memory: held by this process and its children, and free on the machine."""

from __future__ import annotations

import psutil


def held_bytes() -> int:
    """Resident memory of this process and all its children."""
    me = psutil.Process()
    total = 0
    for process in [me, *me.children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def available_bytes() -> int:
    """What could be taken without swapping (MemAvailable)."""
    return int(psutil.virtual_memory().available)
