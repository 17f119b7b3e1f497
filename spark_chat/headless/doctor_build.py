"""What the doctor says of building kernels: compiler, ninja, Python's headers, and versions that must match."""

from __future__ import annotations

import re
import shutil
import sysconfig
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from spark_chat.headless.finding import Finding, fine, warning, wrong

Version = Callable[[str], str | None]

TOGETHER = ("flashinfer-python", "flashinfer-cubin", "flashinfer-jit-cache")
"""Packages whose versions must be the same, where they are installed."""
PINNED = ("flashinfer-python", "sglang-kernel", "humming-kernels", "torch", "transformers")
"""Those of SGLang's own pins that break a start in ways that are hard to read."""


def installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def sglang_requires() -> list[str]:
    try:
        return requires("sglang") or []
    except PackageNotFoundError:
        return []


def examine(
    which: Callable[[str], str | None] = shutil.which, header: Path | None = None,
    of: Version = installed_version, wanted: Callable[[], list[str]] = sglang_requires,
) -> Iterator[Finding]:  # fmt: skip
    """All of it. To be asked for only where SGLang could run."""
    yield compiler(which("gcc") or which("cc") or which("clang"))
    yield ninja(which("ninja"), of("ninja"))
    yield headers(header or Path(sysconfig.get_path("include")) / "Python.h")
    yield versions(of, wanted())


def compiler(path: str | None) -> Finding:
    if path is None:
        return wrong("compiler", "there is no gcc: Triton can't build its launchers.", "sudo apt install gcc g++")
    return fine("compiler", f"{path}.")


def ninja(path: str | None, package: str | None) -> Finding:
    if path is None and package is None:
        return warning("ninja", "there is no ninja: FlashInfer can't build kernels.", "sudo apt install ninja-build")
    return fine("ninja", f"{path or 'from its package'}.")


def headers(path: Path) -> Finding:
    if not path.is_file():
        return wrong(
            "Python.h", f"{path} is not there: Triton can't build its launchers.", "sudo apt install python3-dev"
        )
    return fine("Python.h", f"{path}.")


def versions(of: Version, wanted: list[str]) -> Finding:
    """FlashInfer's parts are of one version, and SGLang's pins hold."""
    together = {name: found.partition("+")[0] for name in TOGETHER if (found := of(name)) is not None}
    if len(set(together.values())) > 1:
        shown = ", ".join(f"{name} {found}" for name, found in together.items())
        right = together.get("flashinfer-python") or next(iter(together.values()))
        others = " ".join(f"{name}=={right}" for name in together if name != "flashinfer-python")
        return wrong("versions", f"{shown} must be the same.", f"pip install {others}")
    for name, operator, pin in map(_pin, wanted):
        found = of(name) if name in PINNED else None
        if found is not None and operator == "==" and found.partition("+")[0] != pin.partition("+")[0]:
            return wrong("versions", f"{name} is {found}, and SGLang wants {pin}.", f"pip install '{name}=={pin}'")
        if found is not None and operator == ">=" and _key(found) < _key(pin):
            return wrong(
                "versions", f"{name} is {found}, and SGLang wants {pin} or newer.", f"pip install '{name}>={pin}'"
            )
    return fine("versions", "FlashInfer's parts and SGLang's pins match.")


def _pin(requirement: str) -> tuple[str, str, str]:
    found = re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*\(?(==|>=)\s*([\w.+]+)", requirement)
    if found is None or "extra ==" in requirement:
        return "", "", ""
    return found[1].lower().replace("_", "-"), found[2], found[3]


def _key(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text.partition("+")[0])[:4])
