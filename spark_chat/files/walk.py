"""The files below a folder, for completion: near ones first, without what version control ignores, and bounded, so
that a tree of any size holds nobody up. Blocks on the disk: call it from a thread."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spark_chat import ordinary

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MOST_FILES = 20_000
WITHIN_S = 2.0
DEEPEST = 16
IN_A_FOLDER = 5_000
"""Entries of one folder that are looked at."""

SKIPPED = frozenset(
    {
        "node_modules", "__pycache__", "venv", "site-packages", "target", "dist", "build",
        "CMakeFiles", "bower_components", "vendor",
    }
)  # fmt: skip
"""Folders of what was fetched or built, beside all whose name begins with a dot."""


@dataclass(frozen=True)
class Files:
    """`paths`, with / between folders and relative to where the walk began; `whole`: none was left out for time or
    number."""

    paths: tuple[str, ...]
    whole: bool = True


@dataclass(frozen=True)
class _Ignored:
    """Patterns of one .gitignore, and the folder they count from."""

    base: str
    spec: GitIgnoreSpec

    def holds(self, path: str) -> bool:
        inside = path[len(self.base) :] if path.startswith(self.base) else path
        return bool(self.spec.match_file(inside))


def below(root: Path, most: int = MOST_FILES, within_s: float = WITHIN_S) -> Files:
    """The files below `root`, breadth first. Links to folders are not followed. Raises nothing."""
    ends = time.monotonic() + within_s
    found: list[str] = []
    folders: deque[tuple[str, int, tuple[_Ignored, ...]]] = deque([("", 0, ())])
    while folders:
        folder, depth, ignored = folders.popleft()
        entries = list(_entries(root / folder))
        if any(entry.name == ".gitignore" for entry in entries):
            ignored = (*ignored, *_ignored(root / folder, folder))
        for entry in entries:
            if len(found) >= most or time.monotonic() > ends:
                return Files(tuple(found), whole=False)
            path = f"{folder}{entry.name}"
            try:
                is_folder, is_file = entry.is_dir(follow_symlinks=False), entry.is_file()
            except OSError:
                continue
            if is_folder:
                skipped = entry.name.startswith(".") or entry.name in SKIPPED or depth + 1 > DEEPEST
                if not skipped and not any(item.holds(f"{path}/") for item in ignored):
                    folders.append((f"{path}/", depth + 1, ignored))
            elif is_file and not any(item.holds(path) for item in ignored):
                found.append(path)
    return Files(tuple(found))


def inside(folder: Path) -> tuple[str, ...]:
    """The names in one folder, folders with a / at their end. Raises nothing."""
    names = []
    for entry in _entries(folder):
        try:
            names.append(f"{entry.name}/" if entry.is_dir() else entry.name)
        except OSError:
            names.append(entry.name)
    return tuple(names)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            some = [entry for _, entry in zip(range(IN_A_FOLDER), entries, strict=False)]
    except (OSError, ValueError):
        return
    yield from sorted(some, key=lambda entry: entry.name)


def _ignored(folder: Path, base: str) -> Iterator[_Ignored]:
    from pathspec import GitIgnoreSpec

    try:
        lines = ordinary.read(folder / ".gitignore", 256 * 1024).decode("utf-8", "replace").splitlines()
        yield _Ignored(base, GitIgnoreSpec.from_lines(lines))
    except (OSError, ValueError):  # also what pathspec makes of a pattern it cannot read
        return
