"""What the doctor says of folders, the settings file and the history file. It writes nothing to find out."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from spark_chat import locations
from spark_chat.headless.finding import Finding, fine, warning, wrong
from spark_chat.meters.units import size
from spark_chat.recipe import kernel_cache
from spark_chat.settings.resolve import Resolved

ROOM = 400_000_000
"""Free bytes under which the cache has no room to fetch the small model."""


def examine(resolved: Resolved) -> Iterator[Finding]:
    yield folder("config folder", locations.config)
    cache = folder("cache folder", locations.cache_folder)
    yield cache
    if cache.level == "fine":
        yield room(_existing(locations.cache_folder()))
    yield from old_caches()
    yield folder("data folder", locations.data)
    yield folder("state folder", locations.state)
    yield from settings(resolved)
    yield history()


def folder(name: str, where: Callable[[], Path]) -> Finding:
    """Whether files can be kept there."""
    try:
        path = where()
    except locations.NoHome as problem:
        return wrong(name, str(problem), "Nothing is kept until then.")
    standing = _existing(path)
    if not standing.is_dir():
        return wrong(name, f"{standing} is a file.", f"Move it away: {path} is to be a folder.")
    if not os.access(standing, os.W_OK | os.X_OK):
        return wrong(name, f"{path} can't be written.", f"See the permissions of {standing}, or a read-only disk.")
    if _read_only(standing):
        return wrong(name, f"{path} is on a disk that is read-only.", "Remount it, or set XDG_* to another place.")
    return fine(name, str(path) if standing == path else f"{path}, made when it is needed.")


def room(path: Path) -> Finding:
    """Whether the disk has room for a model."""
    free = shutil.disk_usage(path).free
    if free < ROOM:
        return warning("disk", f"{size(free)} are free for models.", "Free some: the small one needs 300 MB.")
    return fine("disk", f"{size(free)} are free for models.")


def old_caches() -> Iterator[Finding]:
    """Compiled kernels of versions that are gone: offered for deletion, with their size."""
    found = kernel_cache.left()
    if found:
        shown = ", ".join(f"{one.path.name} ({size(one.size)})" for one in found[:4])
        yield warning(
            "old kernels", f"{shown}{' and more' if len(found) > 4 else ''} are of versions that are not installed.",
            "`spark-chat doctor --fix` deletes them: no chat needs them.", lambda: delete(found),
        )  # fmt: skip


def delete(caches: list[kernel_cache.Left]) -> str:
    """Raises OSError."""
    return f"{size(kernel_cache.delete(caches))} of old kernels were deleted."


def settings(resolved: Resolved) -> Iterator[Finding]:
    """The settings file, and each thing in it that was passed over."""
    for problem in resolved.problems:
        yield wrong("settings", str(problem), "`spark-chat settings validate` checks it again.")
    if resolved.problems:
        return
    if resolved.path is None or not resolved.path.exists():
        yield fine("settings", "no file yet: the defaults are in force.")
    else:
        yield fine("settings", f"{resolved.path} is valid.")


def history() -> Finding:
    """Whether conversations are kept for this user's eyes only."""
    try:
        path = locations.history_file()
        status = path.stat()
    except FileNotFoundError:
        return fine("history", "no conversation is kept yet.")
    except (OSError, locations.NoHome) as problem:
        return wrong("history", f"It can't be read: {problem}.", "See its permissions, or start with --no-history.")
    if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) & 0o077:
        return warning("history", f"{path} can be read by others.", f"chmod 600 {path}", lambda: _private(path))
    if not os.access(path, os.R_OK | os.W_OK):
        return wrong("history", f"{path} can't be written.", "See its permissions, or start with --no-history.")
    return fine("history", f"{path}, {size(status.st_size)}.")


def _private(path: Path) -> str:
    path.chmod(0o600)
    return f"{path} is for your eyes alone now."


def _existing(path: Path) -> Path:
    """`path`, or the nearest folder above it that is there."""
    while not _is_there(path) and path != path.parent:
        path = path.parent
    return path


def _is_there(path: Path) -> bool:
    """Whether it is seen: below a folder that may not be entered nothing is."""
    try:
        return path.exists()
    except OSError:
        return False


def _read_only(path: Path) -> bool:
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False
