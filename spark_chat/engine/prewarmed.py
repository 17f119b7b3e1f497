"""An interpreter that imports ahead and then becomes a child of multiprocessing: see `prewarm`.

`python -m spark_chat.engine.prewarmed DESCRIPTOR MODULE`
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import sys
from multiprocessing import spawn

MOST_FRAME = 1 << 20
MOST_DESCRIPTORS = 64
RESERVED = 256
"""Descriptors below this are kept free of what imports open: those that come keep the numbers that they had."""


def main(arguments: list[str]) -> None:
    channel = _moved(int(arguments[0]))
    held = _reserve()
    with contextlib.suppress(BaseException):  # then it is imported once more where it is needed, and fails there
        importlib.import_module(arguments[1])
    frame, received, _, _ = socket.recv_fds(channel, MOST_FRAME, MOST_DESCRIPTORS)
    channel.close()
    if not frame:
        return  # it was not needed
    order = json.loads(frame.decode("utf-8", "surrogateescape"))
    for descriptor in held:
        os.close(descriptor)
    for number, descriptor in zip(order["descriptors"], received, strict=True):
        os.dup2(descriptor, number, inheritable=True)
    for descriptor in set(received) - set(order["descriptors"]):
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["directory"])
    sys.argv = ["-c", "--multiprocessing-fork"]
    spawn.spawn_main(tracker_fd=order["tracker_fd"], pipe_handle=order["pipe_handle"])


def _moved(descriptor: int) -> socket.socket:
    """The channel, out of the way."""
    import fcntl

    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, RESERVED)
    os.close(descriptor)
    return socket.socket(fileno=high)


def _reserve() -> list[int]:
    """Every free descriptor below RESERVED, taken."""
    held: list[int] = []
    while True:
        descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        if descriptor >= RESERVED:
            os.close(descriptor)
            return held
        held.append(descriptor)


if __name__ == "__main__":
    main(sys.argv[1:])
