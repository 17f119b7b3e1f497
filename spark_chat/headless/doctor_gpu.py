"""What the doctor says of the NVIDIA GPU: driver, CUDA, power, and which programs hold it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spark_chat.headless.finding import Finding, fine, warning, wrong
from spark_chat.machine import Machine
from spark_chat.meters.units import size

DRIVER = 580
"""The first driver with CUDA 13, which the stock wheels are built for."""
FIELDS = ("driver_version", "power.draw", "power.limit", "power.default_limit", "clocks_event_reasons.active")
POWER_CAP = 0x4 | 0x80 | 0x8
"""Bits of clocks_event_reasons: software's power cap, hardware's power brake, hardware's slowdown."""
THERMAL = 0x20 | 0x40
Ask = Callable[[list[str]], str]


@dataclass(frozen=True)
class Holder:
    """A program that has the GPU open. `held`: bytes of GPU memory, None where the driver does not say (a GB10)."""

    pid: int
    name: str
    held: int | None
    resident: int


def ask(arguments: list[str]) -> str:
    """What nvidia-smi says; "" where it can't be asked."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    try:
        done = subprocess.run(
            [tool, *arguments], capture_output=True, text=True, errors="replace", timeout=10, check=True
        )
        return done.stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def examine(machine: Machine, asked: Ask = ask, proc: Path = Path("/proc")) -> Iterator[Finding]:
    if machine.gpu is None:
        return
    values = query(asked)
    yield driver(values.get("driver_version", ""), cuda(asked([])))
    yield power(values, Path("/sys/firmware/acpi/platform_profile"))
    yield programs(holders(proc, memory_by_pid(asked)))


def query(asked: Ask) -> dict[str, str]:
    """FIELDS by name; what is not supported is left out."""
    line = next(iter(asked([f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]).splitlines()), "")
    values = [value.strip() for value in line.split(",")]
    if len(values) != len(FIELDS):
        return {}
    pairs = zip(FIELDS, values, strict=True)
    return {name: value for name, value in pairs if value and not value.startswith("[") and value != "N/A"}


def cuda(banner: str) -> str:
    """The newest CUDA that the driver runs, by nvidia-smi's banner."""
    found = re.search(r"CUDA Version:\s*([\d.]+)", banner)
    return found[1] if found else ""


def driver(version: str, newest: str) -> Finding:
    major = version.partition(".")[0]
    if not major.isdigit():
        return warning("driver", "nvidia-smi does not tell the driver's version.", "Install the driver's tools.")
    text = f"{version}" + (f", up to CUDA {newest}." if newest else ".")
    if int(major) < DRIVER:
        return wrong("driver", text, f"SGLang's wheels need CUDA 13: update to {DRIVER} or newer (DGX OS does it).")
    return fine("driver", text)


def power(values: dict[str, str], profile: Path) -> Finding:
    """Whether the GPU is held back."""
    try:
        mode = profile.read_text().strip()
    except OSError:
        mode = ""
    limit, usual = values.get("power.limit"), values.get("power.default_limit")
    text = f"limit {limit} W" if limit else "the driver tells no limit"
    text += f", profile {mode}." if mode else "."
    reasons = values.get("clocks_event_reasons.active", "0")
    bits = int(reasons, 16) if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", reasons) else 0
    if mode in ("low-power", "quiet", "cool"):
        return warning("power", text, "Decode will be slow: choose the performance or balanced profile.")
    if limit and usual and _number(limit) < 0.95 * _number(usual):
        return warning("power", text, f"It is below the usual {usual} W: `sudo nvidia-smi -pl {usual}` restores it.")
    if bits & THERMAL:
        return warning("power", f"{text} The GPU is slowed down by heat.", "Give it air, and wait.")
    if bits & POWER_CAP:
        return warning("power", f"{text} The GPU is slowed down for power.", "Use the power supply that came with it.")
    return fine("power", text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def memory_by_pid(asked: Ask) -> dict[int, int | None]:
    """Bytes of GPU memory by process; None where the driver does not say."""
    found: dict[int, int | None] = {}
    for line in asked(["--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]).splitlines():
        pid, _, used = line.partition(",")
        if pid.strip().isdigit():
            found[int(pid)] = int(used) * 1024**2 if used.strip().isdigit() else None
    return found


def holders(proc: Path, told: dict[int, int | None]) -> list[Holder]:
    """Programs that have the GPU open, those of other users where they can be seen; the largest first."""
    found = []
    for folder in proc.glob("[0-9]*"):
        pid = int(folder.name)
        if pid == os.getpid() or not (pid in told or _opens_gpu(folder)):
            continue
        found.append(Holder(pid, _name(folder), told.get(pid), _resident(folder)))
    return sorted(found, key=lambda holder: -(holder.held if holder.held is not None else holder.resident))


def programs(found: list[Holder]) -> Finding:
    """Who else is there."""
    if not found:
        return fine("GPU programs", "no other program holds the GPU.")
    shown = ", ".join(
        f"{holder.name} ({holder.pid}, "
        + (f"{size(holder.held)} of GPU memory)" if holder.held is not None else f"{size(holder.resident)} resident)")
        for holder in found[:6]
    )
    more = f" and {len(found) - 6} more" if len(found) > 6 else ""
    return warning("GPU programs", f"{shown}{more} hold the GPU.", "End what you don't need: they share its memory.")


def _opens_gpu(folder: Path) -> bool:
    try:
        for entry in (folder / "fd").iterdir():
            target = os.readlink(entry)  # noqa: PTH115  (a link to no file)
            if target.startswith("/dev/nvidia-uvm") or re.fullmatch(r"/dev/nvidia\d+", target):
                return True
    except OSError:
        pass
    return False


def _name(folder: Path) -> str:
    try:
        name = (folder / "comm").read_text(errors="replace").strip()
    except OSError:
        name = ""
    return "".join(sign if sign.isprintable() else "?" for sign in name)[:40] or "a program"


def _resident(folder: Path) -> int:
    try:
        return int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
