"""What the doctor says of memory: what is free against what the chosen model needs, swap, and the page cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spark_chat.headless.finding import Finding, fine, warning, wrong
from spark_chat.memory import page_cache as cache
from spark_chat.memory.have import Have
from spark_chat.memory.meminfo import Memory
from spark_chat.meters.units import size
from spark_chat.recipe.memory_floor import Floor

GIB = 1024**3
SLACK = 2 * GIB
"""Bytes that the estimate may be off by."""


def examine(
    memory: Memory | None, have: Have | None, floor: Floor | None, model: str, files: list[Path]
) -> Iterator[Finding]:
    """`have`: what a start would find; `floor`: what it needs of that; `files`: the model's weights."""
    if floor is not None and have is not None:
        yield enough(have, floor, model)
        if have.free is not None:
            yield page_cache(have, have.free, floor, files)
    if memory is not None:
        yield swap(memory, have is not None and have.free is not None)


def enough(have: Have, floor: Floor, model: str) -> Finding:
    """Whether the chosen model may start, by the guard's own measure."""
    where = "of GPU memory " if have.gpu else ""
    text = f"{model} needs {size(floor.size)} {where}to start; {size(have.available)} are available. {floor.why}"
    if have.limit is not None:
        text += f" The control group that this runs in may hold {size(have.limit)}."
    if floor.size > have.total:
        return wrong("memory need", text, "It does not fit this machine: take a smaller model or engine.context.")
    if floor.size > have.available:
        return wrong("memory need", text, "A start would be refused: end other programs first.")
    if floor.size + SLACK > have.available:
        return warning("memory need", text, "It is tight: end other programs, or lower engine.context.")
    return fine("memory need", text)


def page_cache(have: Have, free: int, floor: Floor, files: list[Path]) -> Finding:
    """On a GB10 CUDA sees MemFree alone: pages of files that were read stand in its way."""
    text = f"{size(free)} are free at once (MemFree), {size(have.available)} with the page cache"
    if free >= floor.size or have.available < floor.size:
        return fine("page cache", f"{text}.")
    return warning(
        "page cache", f"{text}: CUDA counts the cached pages as used.",
        "A start takes the model's own pages out, and so does `spark-chat doctor --fix`; `sync; echo 1 | sudo tee "
        "/proc/sys/vm/drop_caches` takes all.", fix=lambda: evict(files),
    )  # fmt: skip


def evict(files: list[Path]) -> str:
    """Take the clean pages of `files` out of the page cache."""
    return f"The pages of {cache.evict(files)} of the model's files were given back."


def swap(memory: Memory, shared: bool) -> Finding:
    """On a Spark swap turns a shortage into minutes of standstill."""
    used = memory.swap_total - memory.swap_free
    if memory.swap_total == 0:
        return fine("swap", "there is none.")
    text = f"{size(used)} of {size(memory.swap_total)} are in use."
    if shared and used > GIB:
        return warning("swap", text, "The machine has been short of memory: end programs, then `sudo swapoff -a`.")
    return fine("swap", text)
