"""Reading a file that may be anything: another name for a device, a pipe nobody writes to, far too large."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read(path: Path, most: int) -> bytes:
    """What is in the regular file at `path`, of at most `most` bytes. Raises OSError, and never waits for a writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123  a descriptor has no path
        check(file.fileno(), path)
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return found


def check(file: Path | int, path: Path) -> None:
    """Raises OSError where `file`, a path or a descriptor, is anything but a regular file."""
    mode = os.stat(file).st_mode  # noqa: PTH116  a descriptor has no path
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
