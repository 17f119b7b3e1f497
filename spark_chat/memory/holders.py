"""Which programs hold the most memory, by name and process id, so that a person knows what to close."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from spark_chat import nvidia
from spark_chat.meters.units import size

SHOWN = 3


@dataclass(frozen=True)
class Process:
    """`size`: bytes that would be free without it, as far as can be told cheaply."""

    pid: int
    name: str
    size: int


@dataclass(frozen=True)
class Holder:
    """A program: all processes of one name. `pid`: of the largest of them; `count`: how many there are."""

    name: str
    pid: int
    count: int
    size: int

    def __str__(self) -> str:
        more = f" and {self.count - 1} more" if self.count > 1 else ""
        return f"{self.name} (pid {self.pid}{more}, {size(self.size)})"


def largest(processes: Iterable[Process], shown: int = SHOWN) -> list[Holder]:
    """The programs that hold most, the largest first."""
    by_name: dict[str, list[Process]] = {}
    for process in processes:
        by_name.setdefault(process.name, []).append(process)
    found = []
    for name, several in by_name.items():
        top = max(several, key=lambda one: one.size)
        found.append(Holder(name, top.pid, len(several), sum(one.size for one in several)))
    return sorted(found, key=lambda holder: (-holder.size, holder.name))[:shown]


def running(gpu: bool = False) -> list[Process]:
    """All that can be seen but this one: each one's own pages, and what it shares with others where that is memory and
    no file (pages of files give way). `gpu`: what they hold of the GPU's own memory instead."""
    import psutil

    found = []
    if gpu:
        for pid, used in nvidia.used_by_process().items():
            try:
                found.append(Process(pid, _clean(psutil.Process(pid).name()), used))
            except psutil.Error:
                found.append(Process(pid, "a program", used))
        return found
    for process in psutil.process_iter(["pid", "name", "memory_info"]):
        memory = process.info["memory_info"]
        if memory is None or process.pid == os.getpid():
            continue
        own = int(memory.rss) - int(getattr(memory, "shared", 0)) + _shared_memory(process.pid)
        found.append(Process(process.pid, _clean(process.info["name"] or ""), max(0, own)))
    return found


def _shared_memory(pid: int) -> int:
    """RssShmem of /proc/PID/status, bytes."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123  (no Path for each process)
            for line in file:
                if line.startswith(b"RssShmem:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0


def _clean(name: str) -> str:
    """A program names itself: nothing of it may reach the terminal as a control sequence."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)[:40] or "a program"
