"""Hears the stages of SGLang's start, which its scheduler, a grandchild, sends as datagrams."""

from __future__ import annotations

import array
import contextlib
import json
import os
import secrets
import socket
import threading

from spark_chat.engine.interface import Report

MOST = 65536
CREDENTIALS = 12
"""Bytes of struct ucred: process, user, group."""


class ProgressListener:
    """A socket that lies in no folder, so that nothing is left of it however this process ends, and a thread that hands
    on what comes from this user's own processes. `address` is for the sender: @ stands for the zero byte."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._name = f"spark-chat-{os.getpid()}-{secrets.token_hex(8)}"
        self.address = "@" + self._name
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.bind("\0" + self._name)
        self._thread = threading.Thread(target=self._listen, name="progress", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                frame, ancillary, _, _ = self._socket.recvmsg(MOST, socket.CMSG_SPACE(CREDENTIALS))
            except OSError:
                return
            if _sender(ancillary) != os.getuid():
                continue  # anyone on the machine may write to such an address
            if not frame:
                return
            with contextlib.suppress(ValueError, TypeError, KeyError):
                told = json.loads(frame)
                fraction = told.get("fraction")
                self._report(str(told["stage"]), None if fraction is None else float(fraction), str(told["text"]))

    def close(self) -> None:
        """Stop listening, after what was already sent."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", "\0" + self._name)
            self._thread.join(timeout=1)
        self._socket.close()


def _sender(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """The user that the kernel says the datagram is from."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS and len(data) >= CREDENTIALS:
            return array.array("i", data[:CREDENTIALS])[1]
    return None
