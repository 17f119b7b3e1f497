"""What lets SGLang's CUDA wheel run without a GPU: a libcuda.so.1 with its one symbol, and CPU settings."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

STUB = "int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer) { return 1; }\n"
ARGS: dict[str, Any] = {
    "device": "cpu", "attention_backend": "torch_native", "disable_cuda_graph": True,
    "disable_overlap_schedule": True, "max_running_requests": 1, "mem_fraction_static": 0.3,
    "max_total_tokens": 4096, "dtype": "bfloat16",
}  # fmt: skip


def missing() -> str | None:
    """Why the real engine can't be run here, or None where it can."""
    if find_spec("sglang") is None:
        return "SGLang is not installed (pip install '.[spark]', some 15 GB of disk)"
    if shutil.which("gcc") is None:
        return "gcc is not there to make the stub libcuda.so.1"
    return None


def stub(folder: Path) -> Path:
    """A folder with the stub library."""
    source, library = folder / "stub.c", folder / "libcuda.so.1"
    source.write_text(STUB)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(library), str(source)], check=True)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """For a process that runs SGLang on the CPU."""
    paths = [str(stub(folder)), os.environ.get("LD_LIBRARY_PATH", "")]
    return {
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, paths)),
        "SGLANG_USE_CPU_ENGINE": "1",
        "OMP_NUM_THREADS": "1",
        "SGLANG_PYSPY_DUMP_BEFORE_CRASH": "0",
        "SGLANG_CUDA_COREDUMP_BEFORE_CRASH": "0",
    }
