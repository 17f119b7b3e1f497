"""What nvidia-smi says of the first GPU. On a GB10 memory figures are "Not Supported": none are asked for here."""

from __future__ import annotations

import shutil
import subprocess

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
