"""How many bytes a second the memory gives: as published for a GB10, else measured by a copy.

A copy of n bytes reads n and writes n, so its bandwidth is 2n over its time; the best of several is taken, and of those
that were taken here before, since other work on the machine can only make a copy slower.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

from spark_chat import locations
from spark_chat.locations import NoHome
from spark_chat.machine import Machine
from spark_chat.settings.atomic import write_whole
from spark_chat.settings.problem import CannotSave

GB10_GB_S = 273.0
"""LPDDR5X of a DGX Spark, as NVIDIA publishes it."""
COPIED = 128 << 20
"""Bytes each thread copies at once: far beyond any cache of a desktop's CPU, and few enough for a small machine."""
TIMES = 3
PATIENCE_S = 120


@dataclass(frozen=True)
class Bandwidth:
    """GB/s (10^9 bytes), and where the figure is from."""

    gb_s: float
    source: str


def bandwidth(machine: Machine, threads: int = 1, given: float | None = None) -> Bandwidth | None:
    """Of the memory that the weights are read from. `threads`: that read it, without a GPU. None where it can't be
    told. Blocks for a second or so; nothing else should run meanwhile."""
    if given is not None:
        return Bandwidth(given, "as given")
    if machine.spark:
        return Bandwidth(GB10_GB_S, "published for a GB10")
    if machine.gpu is not None:
        found = _gpu()
        return None if found is None else _best(found, machine.gpu.name)
    source = f"a copy by {threads} thread{'s' if threads > 1 else ''}, measured"
    return _best(Bandwidth(_copy(threads) / 1e9, source), f"{machine.cpu}, {threads}")


def _best(found: Bandwidth, of: str) -> Bandwidth:
    """`found`, or what was measured before where that is more. Kept among what can be made again."""
    with contextlib.suppress(OSError, NoHome):
        path = locations.cache_folder() / "bandwidth.json"
        try:
            known = json.loads(path.read_bytes())
        except (OSError, ValueError):
            known = {}
        before = known.get(of) if isinstance(known, dict) else None
        if isinstance(before, int | float) and before >= found.gb_s:
            return Bandwidth(float(before), found.source)
        locations.made(path.parent)
        with contextlib.suppress(CannotSave):
            write_whole(path, json.dumps({**(known if isinstance(known, dict) else {}), of: found.gb_s}).encode())
    return found


def _gpu() -> Bandwidth | None:
    command = [sys.executable, "-m", "spark_chat.engine.copy_speed"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
        return Bandwidth(float(done.stdout), "a copy on the GPU, measured")
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _copy(threads: int) -> float:
    """Bytes a second, read and written, of `threads` copies at once; memmove lets go of Python's lock."""
    pairs = [(ctypes.create_string_buffer(COPIED), ctypes.create_string_buffer(COPIED)) for _ in range(threads)]
    best = 0.0
    for turn in range(TIMES + 1):
        workers = [threading.Thread(target=ctypes.memmove, args=(to, of, COPIED)) for of, to in pairs]
        began = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if turn:  # the first one has the kernel hand out the pages
            best = max(best, threads * 2 * COPIED / (time.perf_counter() - began))
    return best
