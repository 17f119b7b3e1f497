"""What a visit notes of the machine: versions, chip, the commit, what was compiled; and its logs in one file."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path
from typing import Any

from spark_chat.recipe import kernel_cache

PACKAGES = ("sglang", "sglang-kernel", "humming-kernels", "triton", "transformers", "textual", "spark-chat")


def found() -> dict[str, Any]:
    import torch

    from spark_chat.machine import machine
    from spark_chat.sglang_plugin import discovery

    there = torch.cuda.is_available()
    facts: dict[str, Any] = {
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "chip": torch.cuda.get_device_name() if there else None,
        "capability": list(torch.cuda.get_device_capability()) if there else None,
        "entry_point": discovery.found(),
        "machine": str(machine()),
    }
    facts |= {name: version(name) for name in PACKAGES}
    return facts | {"ok": there and bool(facts["sglang"])}


def version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.strip()
    packed = Path(".gpu/last/commit")  # a copy of the working tree may come without its history
    return packed.read_text().strip() if packed.exists() else ""


def caches() -> dict[str, Any]:
    """What the kernel caches hold: bytes by kind, and which modules nvcc built."""
    sizes, modules = {}, []
    for variable, place in kernel_cache.environment().items():
        files = [path for path in Path(place).rglob("*") if path.is_file()]
        sizes[variable] = [len(files), sum(path.stat().st_size for path in files)]
        modules += [f"{path.stem} {path.stat().st_size}" for path in files if path.suffix == ".so"]
    return {"bytes": sizes, "modules": sorted(modules)[:200]}


def pack_logs(work: Path, archive: Path) -> None:
    """Every log below `work`, the engines' own among them."""
    with tarfile.open(archive, "w:xz") as packed:
        for path in sorted(work.rglob("*.log")):
            packed.add(path, arcname=str(path.relative_to(work)))
