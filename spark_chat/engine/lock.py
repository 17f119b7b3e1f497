"""One engine a user: a lock that its worker holds from before it loads until nothing of it is left, and who holds it.

A flock dies with the processes that hold it, so a crash leaves nothing that blocks. The file's text says who holds the
lock, and means nothing once the lock is free.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
from pathlib import Path

import msgspec

from spark_chat import locations

NAME = "engine.lock"

KEEPER = r"""
alive() {
    kill -0 -"$group" || return 1
    [ -d /proc/self/task ] || return 0
    for process in /proc/[0-9]*; do
        read -r line < "$process/stat" || continue
        set -- ${line##*) }
        [ "$3" = "$group" ] || continue
        [ "$1" = Z ] || return 0
        set -- "$process"/task/*
        [ $# -le 1 ] || return 0
    done
    return 1
}
group=$1
exec 3<&0
{
    read -r _ <&3
    turns=0
    while [ $turns -lt 500 ] && alive; do
        sleep 0.02
        turns=$((turns + 1))
    done
} &
"""
"""Holds the lock (as its stdout) until the group $1 is gone, some 10 s at most after its stdin ended: what an engine
started may outlive its worker by the moment that it takes to die, or to give back a GPU's memory. A process that is
dead and only waits to be reaped does not count, unless threads of it are still dying. It kills nobody."""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the lock. `since`: seconds of the epoch."""

    pid: int = 0
    program: str = ""
    model: str = ""
    since: float = 0.0


def folder() -> Path:
    """The runtime folder, made where it is missing, for this user alone. Raises OSError, NoHome."""
    place = locations.made(locations.runtime())
    status = place.lstat()
    if status.st_uid != os.getuid():
        raise PermissionError(f"{place} belongs to somebody else.")
    if status.st_mode & 0o077:
        place.chmod(0o700)
    return place


class EngineLock:
    """`folder`: where the file lies."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW  # no child of the engine gets it
        self._file = os.open(self._path, flags, 0o600)

    def take(self) -> bool:
        """Whether it is ours now. Raises OSError where the file system has no locks."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def tell(self, holder: Holder) -> None:
        """Write down who holds it."""
        text = msgspec.json.encode(holder)
        with contextlib.suppress(OSError):  # a full disk: the lock itself needs none
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, text, 0)

    def keep_for_group(self) -> None:
        """Have it held until this process and all of its group are gone."""
        if os.getpgrp() != os.getpid():
            return
        reading, _kept_open = os.pipe()  # its other end closes when this process goes, however it goes
        with contextlib.suppress(OSError):
            subprocess.run(
                ["/bin/sh", "-c", KEEPER, "sh", str(os.getpgrp())], stdin=reading, stdout=self._file,
                stderr=subprocess.DEVNULL, start_new_session=True, check=False,
            )  # fmt: skip
        os.close(reading)

    def close(self) -> None:
        """Let it go, where it was ours."""
        os.close(self._file)


def holder() -> Holder | None:
    """Who holds the lock; None where it is free, or where there can be none."""
    try:
        file = os.open(folder() / NAME, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (OSError, locations.NoHome):
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(file)
    except OSError:
        return None
    finally:
        os.close(file)
    return None


def _read(file: int) -> Holder:
    try:
        return msgspec.json.decode(os.pread(file, 65536, 0), type=Holder)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return Holder()
