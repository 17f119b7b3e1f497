"""How much memory a start finds: the machine's, or the GPU's where it has its own."""

from __future__ import annotations

from dataclasses import dataclass

from spark_chat import nvidia
from spark_chat.machine import Machine
from spark_chat.memory import meminfo


@dataclass(frozen=True)
class Have:
    """Bytes. `available` decides whether to start. `free`: of a memory that the GPU shares, what CUDA counts as free,
    the page cache not among it; None elsewhere. `gpu`: it is the GPU's own memory. `limit`: a control group's, where
    that is what leaves least."""

    available: int
    total: int
    free: int | None = None
    gpu: bool = False
    limit: int | None = None


def look(engine: str, machine: Machine) -> Have | None:
    """None where it can't be known. llama.cpp may use the machine's memory and a GPU's own together. Asks nvidia-smi
    where the GPU has its own memory: call it off the event loop."""
    memory = meminfo.read()
    own = nvidia.memory() if machine.gpu is not None and not machine.spark else None
    if engine == "sglang" and machine.gpu is not None and not machine.spark:
        return Have(own.free, own.total, gpu=True) if own is not None else None
    if memory is None:
        return None
    more = own or nvidia.GpuMemory(0, 0)
    return Have(
        memory.available + more.free, memory.total + more.total, memory.free if machine.spark else None,
        limit=memory.limit,
    )  # fmt: skip
