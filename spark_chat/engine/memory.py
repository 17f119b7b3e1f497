"""Bytes of memory: held by this process and its children, and free on the machine."""

from __future__ import annotations

from pathlib import Path

import psutil

_GROUP = Path("/sys/fs/cgroup")


def held_bytes() -> int:
    """Memory of this process and all its children: proportional set size where the kernel gives it, else resident.

    Pages that several processes share, a GGUF's among them, count once over all (PSS).
    """
    me = psutil.Process()
    total = 0
    for process in [me, *me.children(recursive=True)]:
        try:
            total += _proportional(process.pid) or int(process.memory_info().rss)
        except psutil.Error:
            continue
    return total


def _proportional(pid: int) -> int | None:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


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
