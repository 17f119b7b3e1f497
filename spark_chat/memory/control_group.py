"""How much memory this process's control groups allow: in a container that is the limit, whatever the machine has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
NO_LIMIT = 1 << 60
"""From here on a figure of version 1 means that there is none."""


@dataclass(frozen=True)
class Group:
    """One group's files, by the names of its version. `limits`: the lowest that is set counts. `cached`: lines of
    memory.stat whose pages give way."""

    folder: Path
    limits: tuple[str, ...]
    usage: str
    cached: tuple[str, ...]


@dataclass(frozen=True)
class Room:
    """Bytes: what the tightest group may hold in all, and what could still be taken in it, its cached files counted
    as free since they give way."""

    limit: int
    available: int


def room(own: Path = OWN, root: Path = ROOT) -> Room | None:
    """Of the group that leaves least, this process's own and all above it; None where none has a limit."""
    found = [space for group in groups(own, root) if (space := _room(group)) is not None]
    return min(found, key=lambda space: space.available, default=None)


def groups(own: Path = OWN, root: Path = ROOT) -> Iterator[Group]:
    """Those that this process is in, of both versions. In a container the path that the kernel tells may not exist
    there: then the root is the container's own group."""
    try:
        lines = own.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    for line in [*lines, "0::/"]:
        _, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        if kinds == "":
            for folder in _upwards(root, path):
                yield Group(folder, ("memory.max", "memory.high"), "memory.current", ("active_file", "inactive_file"))
        elif "memory" in kinds.split(","):
            for folder in _upwards(root / "memory", path):
                yield Group(
                    folder, ("memory.limit_in_bytes",), "memory.usage_in_bytes",
                    ("total_active_file", "total_inactive_file"),
                )  # fmt: skip


def _upwards(root: Path, path: str) -> Iterator[Path]:
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for count in range(len(parts), -1, -1):
        yield root.joinpath(*parts[:count])


def _room(group: Group) -> Room | None:
    limits = [limit for name in group.limits if (limit := _number(group.folder / name)) is not None]
    used = _number(group.folder / group.usage)
    if not limits or used is None:
        return None
    cached = sum(count for name, count in _table(group.folder / "memory.stat") if name in group.cached)
    return Room(min(limits), max(0, min(limits) - max(0, used - cached)))


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdigit() and int(text) < NO_LIMIT else None


def _table(path: Path) -> Iterator[tuple[str, int]]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        name, _, count = line.partition(" ")
        if count.strip().isdigit():
            yield name, int(count)
