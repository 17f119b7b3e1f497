"""Log files of the engine's worker: one a start, a bounded number, each of a bounded size.

The worker's stdout and stderr are raw descriptors that native code writes to, so no logging handler can rotate them:
a new file is made at each start, and one that grows too big is copied down and truncated in place, which the append
mode of every writer allows.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from pathlib import Path

from spark_chat import locations

KEPT = 8
"""Files that stay, the newest one included."""
MAX_BYTES = 4 * 1024 * 1024
"""A file over this is cut to its newest quarter."""

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC

_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC and other strings
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def create() -> tuple[Path, int]:
    """A new log file and a descriptor that appends to it (and reads), for this user only. Raises OSError, NoHome."""
    folder = locations.made(locations.logs())
    path = folder / f"worker-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{time.monotonic_ns() % 1_000_000:06d}.log"
    descriptor = os.open(path, _FLAGS, 0o600)
    _prune(folder)
    return path, descriptor


def open_for_worker(named: Path | None = None) -> tuple[Path | None, int | None]:
    """A log file, `named` or a new one, and its descriptor.

    Where no disk takes it, a file in memory with no path, so that the chat goes on and what was said can still be
    read; (None, None) where the system has no such thing.
    """
    try:
        if named is None:
            return create()
        return named, os.open(named, _FLAGS, 0o600)
    except (OSError, locations.NoHome):
        pass
    try:
        descriptor = os.memfd_create("spark-chat-log")
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    except (OSError, AttributeError):
        return None, None
    return None, descriptor


def _prune(folder: Path) -> None:
    def age(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    for path in sorted(folder.glob("worker-*.log"), key=age, reverse=True)[KEPT:]:
        path.unlink(missing_ok=True)


def shorten(descriptor: int, limit: int = MAX_BYTES) -> bool:
    """Cut the log behind `descriptor` to its newest quarter where it is over `limit` bytes; whether it was.

    Lines written in the instant between copy and cut are lost. Anything but a regular file is left alone.
    """
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size <= limit:
            return False
        kept = os.pread(descriptor, limit // 4, status.st_size - limit // 4)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, b"(older lines were cut)\n" + kept.partition(b"\n")[2])
    except OSError:
        return False
    return True


def size(descriptor: int) -> int | None:
    """Bytes in the log behind `descriptor`; None where it is no regular file."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def since(descriptor: int, position: int | None, limit: int = 256 * 1024) -> list[str]:
    """Clean lines written after `position` (from `size`), the last `limit` bytes of them."""
    end = size(descriptor)
    if end is None or position is None:
        return []
    start = max(position if position <= end else 0, end - limit)
    try:
        return clean(os.pread(descriptor, end - start, start))
    except OSError:
        return []


def tail(path: Path | None, lines: int = 40) -> list[str]:
    """The last lines of a log, without control sequences or empty lines; [] where there is none to read."""
    if path is None:
        return []
    try:
        with path.open("rb") as file:
            return end(file.fileno(), lines)
    except OSError:
        return []


def end(descriptor: int, lines: int = 40) -> list[str]:
    """`tail` of an open log."""
    here = size(descriptor)
    return since(descriptor, max(0, here - lines * 1024), lines * 1024)[-lines:] if here else []


def clean(data: bytes) -> list[str]:
    """Log bytes -> lines that any terminal may show, 500 characters at most; of one redrawn with \\r the last state."""
    found = []
    for line in data.decode("utf-8", "replace").split("\n"):
        state = line.rstrip("\r").rpartition("\r")[2]
        text = _CONTROL.sub("", state).rstrip()
        if text:
            found.append(text[:500])
    return found
