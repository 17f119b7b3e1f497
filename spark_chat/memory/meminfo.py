"""The machine's memory as the kernel tells it, and as a control group's limit leaves it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from spark_chat.memory import control_group

PATH = Path("/proc/meminfo")


@dataclass(frozen=True)
class Memory:
    """Bytes. `free`: MemFree, which CUDA counts as free on a Spark; `available`: MemAvailable, by which SGLang sizes
    its pools: the page cache gives way. `limit`: of a control group, where it is what leaves least."""

    total: int = 0
    free: int = 0
    available: int = 0
    swap_total: int = 0
    swap_free: int = 0
    limit: int | None = None


def read(path: Path = PATH, own: Path = control_group.OWN, groups: Path = control_group.ROOT) -> Memory | None:
    """None where there is no such file."""
    try:
        found = parsed(path.read_text())
    except (OSError, UnicodeDecodeError):
        return None
    room = control_group.room(own, groups)
    if room is None or room.available >= found.available:
        return found
    return replace(found, available=room.available, free=min(found.free, room.available), limit=room.limit)


def parsed(text: str) -> Memory:
    """From the file's text; a line that is missing is 0."""
    values: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            values[name] = int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
    return Memory(
        total=values.get("MemTotal", 0),
        free=values.get("MemFree", 0),
        available=values.get("MemAvailable", values.get("MemFree", 0)),
        swap_total=values.get("SwapTotal", 0),
        swap_free=values.get("SwapFree", 0),
    )
