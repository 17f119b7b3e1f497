"""What one connection still has to be sent: nobody waits for a reader that is slow, stopped, or gone."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import deque

LIMIT = 64 * 1024 * 1024
"""Bytes that wait at most; a reader that leaves more lying is disconnected."""


class Outbox:
    """`put` may be called from any thread. What the socket takes at once is sent at once, on the caller's thread;
    what is left goes out on a thread of its own."""

    def __init__(self, stream: socket.socket, limit: int = LIMIT) -> None:
        self._stream, self._limit = stream, limit
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._closed

    def put(self, frame: bytes) -> None:
        """Send `frame`, after those before it. Nothing happens where the other end is gone: its reader will tell."""
        with self._changed:
            if self._closed:
                return
            if not self._waiting:
                try:
                    frame = frame[self._stream.send(frame, socket.MSG_DONTWAIT) :]
                except BlockingIOError:
                    pass
                except OSError:
                    self._closed = True
                    return
            if not frame:
                return
            if self._waiting and self._bytes + len(frame) > self._limit:
                self._give_up()
                return
            self._waiting.append(frame)
            self._bytes += len(frame)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Send no more; the other end sees the end of the socket."""
        with self._changed:
            self._give_up()

    def _give_up(self) -> None:
        self._closed = True
        self._waiting.clear()
        self._bytes = 0
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)  # wakes a reader and a writer that block
        self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                frame = self._waiting[0]
            try:
                self._stream.sendall(frame)
            except OSError:
                with self._changed:
                    self._closed = True
                return
            with self._changed:
                if self._closed:
                    return
                self._waiting.popleft()
                self._bytes -= len(frame)
