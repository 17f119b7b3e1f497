"""A running engine's door: a socket in the runtime folder, for processes of the same user.

Its file means nothing by itself: one that a killed engine left behind takes no connection, and the next engine, which
has the lock by then, puts its own in its place.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

NAME = "engine.sock"
LONGEST = 100
"""Bytes that an address may have: 108 on Linux, 104 elsewhere, with the zero at its end."""


class Door:
    """`welcome(stream, pid)` gets each connection of this user, on the door's own thread."""

    def __init__(self, folder: Path, welcome: Callable[[socket.socket, int], None]) -> None:
        self._folder, self._welcome = folder, welcome
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def open(self) -> None:
        """Only whoever holds the lock may call it. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            (self._folder / NAME).unlink()
        with _address(self._folder) as address:
            self._socket.bind(address)
        (self._folder / NAME).chmod(0o600)
        self._socket.listen(64)
        threading.Thread(target=self._accept, name="door", daemon=True).start()

    def close(self) -> None:
        """Take the file away; connections stay as they are."""
        with contextlib.suppress(OSError):
            (self._folder / NAME).unlink()

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._socket.accept()
            except OSError:  # no descriptor is free, or the caller is gone again
                time.sleep(0.05)
                continue
            who = peer(stream)
            if who is None or who[1] == os.getuid():
                self._welcome(stream, who[0] if who else 0)
            else:
                stream.close()


def peer(stream: socket.socket) -> tuple[int, int] | None:
    """Process and user id at the other end; None where the system does not tell: then the folder's mode must do."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    pid, uid, _ = struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, uid


def knock(folder: Path) -> socket.socket | None:
    """A connection to the engine behind the door of `folder`; None where none listens."""
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.setblocking(False)
    try:
        with _address(folder) as address:
            stream.connect(address)
    except OSError:
        stream.close()
        return None
    who = peer(stream)
    if who is not None and who[1] not in (os.getuid(), 0):
        stream.close()
        return None
    return stream


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    """The socket's address: by way of a descriptor of the folder where the whole path would be too long."""
    path = str(folder / NAME)
    if len(os.fsencode(path)) <= LONGEST:
        yield path
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{opened}/{NAME}"
    finally:
        os.close(opened)
