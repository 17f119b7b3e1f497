"""What nvidia-smi says of the first GPU. On a GB10, whose memory is the machine's, it tells no memory figures."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from spark_chat.machine import Gpu


def query() -> Gpu | None:
    """The first GPU, or one of unknown name where the device is there but nvidia-smi can't be run."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Gpu(name="NVIDIA GPU", capability=None)
    try:
        shown = subprocess.run(
            [tool, "--query-gpu=name,compute_cap", "--format=csv,noheader"],
            capture_output=True, text=True, errors="replace", timeout=10, check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    lines = [line for line in shown.splitlines() if line.strip()]
    if not lines:
        return None
    name, _, capability = lines[0].rpartition(",")
    major, _, minor = capability.strip().partition(".")
    known = major.isdigit() and minor.isdigit()
    return Gpu(name=name.strip() or "NVIDIA GPU", capability=(int(major), int(minor)) if known else None)


@dataclass(frozen=True)
class GpuMemory:
    """Bytes of a GPU's own memory."""

    total: int
    free: int


def memory(environ: Mapping[str, str] = os.environ) -> GpuMemory | None:
    """Of the first GPU that CUDA may use (CUDA_VISIBLE_DEVICES); None where the driver does not tell."""
    visible = environ.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0].strip()
    chosen = ["-i", visible] if visible else []
    return parsed_memory(_asked([*chosen, "--query-gpu=memory.total,memory.free"]))


def parsed_memory(shown: str) -> GpuMemory | None:
    """From "143771, 143200" (MiB) on the first line; a GB10 says "[N/A]"."""
    total, _, free = next(iter(shown.splitlines()), "").partition(",")
    if not (total.strip().isdigit() and free.strip().isdigit()):
        return None
    return GpuMemory(int(total) * 1024**2, int(free) * 1024**2)


def used_by_process() -> dict[int, int]:
    """Process id -> bytes of GPU memory, of those that the driver tells."""
    found: dict[int, int] = {}
    for line in _asked(["--query-compute-apps=pid,used_memory"]).splitlines():
        pid, _, used = line.partition(",")
        if pid.strip().isdigit() and used.strip().isdigit():
            found[int(pid)] = found.get(int(pid), 0) + int(used) * 1024**2
    return found


def _asked(query: list[str]) -> str:
    """What nvidia-smi answers, MiB without units; "" where it can't be asked."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    try:
        return subprocess.run(
            [tool, *query, "--format=csv,noheader,nounits"],
            capture_output=True, text=True, errors="replace", timeout=10, check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
