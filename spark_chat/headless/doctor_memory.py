"""What the doctor says of memory: what is free against what the chosen model needs, swap, and the page cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spark_chat.headless.finding import Finding, fine, warning, wrong
from spark_chat.meters.units import size
from spark_chat.recipe.memory_need import Need

GIB = 1024**3
SLACK = 2 * GIB
"""Bytes that the estimate may be off by."""


@dataclass(frozen=True)
class Memory:
    """/proc/meminfo, bytes. On a Spark CUDA counts `free` as free; SGLang sizes its pools by `available`."""

    total: int = 0
    free: int = 0
    available: int = 0
    swap_total: int = 0
    swap_free: int = 0


def read(path: Path = Path("/proc/meminfo")) -> Memory | None:
    """None where there is no such file."""
    try:
        return parsed(path.read_text())
    except (OSError, UnicodeDecodeError):
        return None


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


def examine(memory: Memory | None, need: Need | None, model: str, files: list[Path], shared: bool) -> Iterator[Finding]:
    """`need`: of the chosen model; `files`: its weights. `shared`: the GPU takes from the same memory (a Spark)."""
    if memory is None:
        return
    if need is not None:
        yield enough(memory, need, model)
        if shared:
            yield page_cache(memory, need, files)
    yield swap(memory, shared)


def enough(memory: Memory, need: Need, model: str) -> Finding:
    """Whether the chosen model fits into what is free."""
    parts = ", ".join(f"{part.name} {size(part.size)}" for part in need.parts if part.size >= GIB // 10)
    text = f"{model} needs about {size(need.total)} ({parts}); {size(memory.available)} are available."
    if need.total > memory.total:
        return wrong("memory need", text, "It does not fit this machine: take a smaller model or engine.context.")
    if need.total > memory.available:
        return wrong("memory need", text, "End other programs first; a start would be refused, or wedge the machine.")
    if need.total + SLACK > memory.available:
        return warning("memory need", text, "It is tight: end other programs, or lower engine.context.")
    return fine("memory need", text)


def page_cache(memory: Memory, need: Need, files: list[Path]) -> Finding:
    """On a GB10 CUDA sees MemFree alone: pages of files that were read stand in its way."""
    text = f"{size(memory.free)} are free at once, {size(memory.available)} with the page cache"
    if memory.free >= need.total or memory.available < need.total:
        return fine("page cache", f"{text}.")
    return warning(
        "page cache", f"{text}: CUDA counts the cached pages as used.",
        "`spark-chat doctor --fix` takes the model's own pages out; `sync; echo 1 | sudo tee /proc/sys/vm/drop_caches` "
        "takes all.", fix=lambda: evict(files),
    )  # fmt: skip


def evict(files: list[Path]) -> str:
    """Take the clean pages of `files` out of the page cache; no right of root's is needed."""
    taken = 0
    for file in files:
        try:
            opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
            taken += 1
        except OSError:
            continue
        finally:
            os.close(opened)
    return f"The pages of {taken} of the model's files were given back."


def swap(memory: Memory, shared: bool) -> Finding:
    """On a Spark swap turns a shortage into minutes of standstill."""
    used = memory.swap_total - memory.swap_free
    if memory.swap_total == 0:
        return fine("swap", "there is none.")
    text = f"{size(used)} of {size(memory.swap_total)} are in use."
    if shared and used > GIB:
        return warning("swap", text, "The machine has been short of memory: end programs, then `sudo swapoff -a`.")
    return fine("swap", text)
