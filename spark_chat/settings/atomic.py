"""One small file, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from spark_chat.settings.problem import CannotSave

NEW_FILE_MODE = 0o600
PATIENCE_S = 2.0


def write_whole(path: Path, content: bytes) -> None:
    """`content` at `path`: a reader, and a power cut, finds the old file or the new one. Raises CannotSave.

    A symbolic link stays and what it points to is written; the mode (and owner, where allowed) is kept. The folder
    must be there.
    """
    try:
        _write(Path(os.path.realpath(path, strict=False)), content)
    except OSError as error:
        raise CannotSave(_sentence(path, error)) from error


def _write(target: Path, content: bytes) -> None:
    before: os.stat_result | None = None
    with contextlib.suppress(FileNotFoundError):
        before = target.stat()
    if before is not None and not os.access(target, os.W_OK):
        # A rename would go through; but whoever took the write permission away meant it.
        raise PermissionError(errno.EACCES, "it is read-only")
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            if before is None:
                os.fchmod(file.fileno(), NEW_FILE_MODE)
            else:
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    with contextlib.suppress(OSError):
                        os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """So that the new name is on disk too; some file systems can't, and the file is good all the same."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextlib.contextmanager
def one_writer(path: Path) -> Iterator[None]:
    """Holds off other writers of `path` (of this app) from reading to writing, so that two changes both stay.

    The lock is on the folder: no file is left behind. Where there are no locks, or the other one hangs, goes on
    without after `PATIENCE_S`.
    """
    opened = None
    try:
        with contextlib.suppress(OSError):
            opened = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY | os.O_DIRECTORY)
            _lock(opened)
        yield
    finally:
        if opened is not None:
            os.close(opened)


def _lock(opened: int) -> None:
    patience = time.monotonic() + PATIENCE_S
    while True:
        try:
            return fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > patience:
                return
            time.sleep(0.01)


def _sentence(path: Path, error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    remedy = {
        errno.ENOSPC: "Free some space and try again.",
        errno.EDQUOT: "Free some space and try again.",
        errno.EACCES: "Change its permissions, or name another file with --config.",
        errno.EPERM: "Change its permissions, or name another file with --config.",
        errno.EROFS: "Name a file elsewhere with --config.",
        errno.ENOENT: "Make its folder first.",
        errno.ELOOP: "Its symbolic links lead in a circle; put that right first.",
    }.get(error.errno or 0, "Nothing was changed.")
    return f"{path} could not be written ({reason}). {remedy}"
