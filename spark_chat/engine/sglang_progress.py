"""Hears the stages of SGLang's start, which its scheduler, a grandchild, sends as datagrams."""

from __future__ import annotations

import contextlib
import json
import socket
import tempfile
import threading
from pathlib import Path

from spark_chat.engine.interface import Report


class ProgressListener:
    """A socket in a folder of this user's own, and a thread that hands on what comes. `path` is for the sender."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._folder = tempfile.mkdtemp(prefix="spark-chat-")
        self.path = str(Path(self._folder) / "progress")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._thread = threading.Thread(target=self._listen, name="progress", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                frame = self._socket.recv(65536)
            except OSError:
                return
            if not frame:
                return
            with contextlib.suppress(ValueError, TypeError, KeyError):
                told = json.loads(frame)
                fraction = told.get("fraction")
                self._report(str(told["stage"]), None if fraction is None else float(fraction), str(told["text"]))

    def close(self) -> None:
        """Stop listening, after what was already sent, and remove the socket."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", self.path)
            self._thread.join(timeout=1)
        self._socket.close()
        with contextlib.suppress(OSError):
            Path(self.path).unlink()
            Path(self._folder).rmdir()
