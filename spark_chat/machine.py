"""What machine this is, read once. No sensor is polled here, and what is absent is None."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA GPU. `capability` is (major, minor), None where the driver didn't say."""

    name: str
    capability: tuple[int, int] | None


@dataclass(frozen=True)
class Machine:
    """`memory_bytes` is what the system has in all; `spark` is True on a DGX Spark (a GB10)."""

    architecture: str
    cpu: str
    cores: int
    memory_bytes: int
    gpu: Gpu | None
    spark: bool


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith(("model name", "Model\t", "Hardware")):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _gpu() -> Gpu | None:
    """From the driver's /proc entry, without starting CUDA; the capability through nvidia-smi where it is there."""
    root = Path("/proc/driver/nvidia/gpus")
    try:
        cards = sorted(root.iterdir())
    except OSError:
        cards = []
    if not cards and not Path("/dev/nvidia0").exists():
        return None
    from spark_chat.nvidia import query

    return query()


@cache
def machine() -> Machine:
    """This machine."""
    gpu = _gpu()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(
        architecture=platform.machine(),
        cpu=_cpu_name(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=memory,
        gpu=gpu,
        spark=gpu is not None and (gpu.capability == (12, 1) or "GB10" in gpu.name),
    )
