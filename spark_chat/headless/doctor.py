"""All that the doctor looks at, in the order of its lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from spark_chat.headless import doctor_engines, doctor_files, doctor_model, doctor_running, doctor_terminal
from spark_chat.headless.finding import Finding, fine, warning
from spark_chat.machine import Machine
from spark_chat.meters.units import size
from spark_chat.settings.resolve import Resolved

GIB = 1024**3


def examine(resolved: Resolved, machine: Machine, environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Every finding. Engines are tried in processes of their own; nothing is fetched, and no file is written."""
    yield from hardware(machine, _available())
    yield from doctor_engines.examine(resolved.settings, machine)
    yield from doctor_running.examine()
    yield from doctor_model.examine(resolved.settings, machine)
    yield from doctor_files.examine(resolved)
    yield from doctor_terminal.examine(environ)


def _available() -> int:
    import psutil

    return int(psutil.virtual_memory().available)


def hardware(machine: Machine, available: int) -> Iterator[Finding]:
    """CPU, memory and GPU; `available`: bytes of memory that are free to take."""
    cpu = f"{machine.cpu}, {machine.architecture}, {_cores(machine.cores)}"
    if machine.cores < 2:
        yield warning("CPU", f"{cpu}.", "llama.cpp and the screen share it: expect fewer tok/s.")
    else:
        yield fine("CPU", f"{cpu}.")
    memory = f"{size(available)} of {size(machine.memory_bytes)} are free"
    if available < GIB:
        yield warning("memory", f"{memory}.", "End other programs before you load a model.")
    else:
        yield fine("memory", f"{memory}.")
    if machine.gpu is None:
        yield fine("GPU", "no NVIDIA GPU was found; llama.cpp runs on the CPU.")
    elif machine.gpu.capability is None:
        yield warning(
            "GPU", f"{machine.gpu.name}, of unknown compute capability.", "Install nvidia-smi with the driver's tools."
        )
    else:
        major, minor = machine.gpu.capability
        yield fine("GPU", f"{machine.gpu.name}, compute capability {major}.{minor}.")
    yield fine("DGX Spark", "this is one." if machine.spark else "this is not one.")


def _cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"


def fix(findings: list[Finding]) -> Iterator[str]:
    """Do what is safe, a sentence each; one that fails is said and passed over."""
    for finding in findings:
        if finding.fix is not None:
            try:
                yield f"{finding.name}: {finding.fix()}"
            except OSError as error:
                yield f"{finding.name}: it could not be put right: {error.strerror or error}."


def as_json(findings: list[Finding]) -> dict[str, Any]:
    """One object; "level" of the whole is that of the worst line."""
    levels = [finding.level for finding in findings]
    worst = next((level for level in ("wrong", "warning") if level in levels), "fine")
    return {
        "level": worst,
        "findings": [
            {"name": item.name, "level": item.level, "text": item.text, "remedy": item.remedy or None}
            for item in findings
        ],
    }


def as_lines(findings: list[Finding]) -> list[str]:
    """A line each, and one that sums up."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = [finding.line(width) for finding in findings]
    bad = sum(finding.level == "wrong" for finding in findings)
    doubtful = sum(finding.level == "warning" for finding in findings)
    lines.append(f"{bad} wrong, {doubtful} {'warning' if doubtful == 1 else 'warnings'}.")
    return lines
