"""Where compiled kernels are kept: a folder for each version of what compiles them, so that an update starts clean and
what older ones left can be told by name. Nothing of it is a person's; all of it can be built again."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from spark_chat import locations

BUILDERS = ("sglang", "triton", "flashinfer-python", "humming-kernels")
"""Packages whose versions make up the folder's name."""
VARIABLES = {
    "HUMMING_CACHE_DIR": "humming", "SGLANG_CACHE_DIR": "sglang", "TRITON_CACHE_DIR": "triton",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
}  # fmt: skip
"""What tells each of them its folder."""


@dataclass(frozen=True)
class Left:
    """A cache that no installed version uses. `size`: bytes."""

    path: Path
    size: int


def tag() -> str:
    """The versions that are installed, as a folder's name."""
    found = []
    for package in BUILDERS:
        try:
            found.append(f"{package.partition('-')[0]}-{version(package).partition('+')[0]}")
        except PackageNotFoundError:
            continue
    return re.sub(r"[^\w.-]", "_", "-".join(found)) or "none"


def root() -> Path:
    """What holds them all. Raises NoHome."""
    return locations.cache_folder() / "kernels"


def folder() -> Path:
    """That of the versions that are installed. Raises NoHome."""
    return root() / tag()


def environment() -> dict[str, str]:
    """For the worker; nothing where there is no home to keep them in."""
    try:
        here = folder()
    except locations.NoHome:
        return {}
    return {variable: str(here / name) for variable, name in VARIABLES.items()}


def left() -> list[Left]:
    """Caches of versions that are not installed any more, the largest first. Where none of them is installed nothing
    is called old: they may be in another environment of the same person's."""
    now = tag()
    try:
        folders = [entry for entry in root().iterdir() if entry.is_dir() and not entry.is_symlink()]
    except (OSError, locations.NoHome):
        return []
    if now == "none":
        return []
    return sorted((Left(path, _size(path)) for path in folders if path.name != now), key=lambda one: -one.size)


def delete(caches: list[Left]) -> int:
    """Only what lies in the app's own folder of kernels. Bytes that came free. Raises OSError; killed in the middle,
    the rest is still there to be deleted."""
    for one in caches:
        shutil.rmtree(one.path)
    return sum(one.size for one in caches)


def _size(path: Path) -> int:
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118
            except OSError:
                continue
    return total
