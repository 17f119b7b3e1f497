"""Bytes of memory: held by this process and its children, and free on the machine."""

from __future__ import annotations

from pathlib import Path

import psutil

_GROUP = Path("/sys/fs/cgroup")


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
    try:
        limit = (_GROUP / "memory.max").read_text().strip()
        if limit != "max":
            used = int((_GROUP / "memory.current").read_text())
            facts = dict(line.split() for line in (_GROUP / "memory.stat").read_text().splitlines())
            free = min(free, int(limit) - used + int(facts.get("file", 0)))  # cached files give way
    except (OSError, ValueError):
        pass
    return max(0, free)
