"""One client of a worker: a socket with whoever is at its other end."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable

from spark_chat.engine.codec import decode_command, encode
from spark_chat.engine.outbox import Outbox
from spark_chat.engine.protocol import MAX_FRAME, AnyCommand, AnyEvent, Load, Person, ProtocolError
from spark_chat.engine.wire import CHUNK, Inbox

HANDSHAKE_S = 5.0
"""Seconds within which a connection at the door must have said what it wants."""
HANDSHAKE_BYTES = 1024 * 1024
"""Longest frame that is taken from somebody who is not let in yet."""


class Guest:
    """`on_message` and `on_end` are called on a thread of its own. `number`: 0 for the one that spawned the worker."""

    def __init__(
        self,
        stream: socket.socket,
        number: int,
        pid: int,
        on_message: Callable[[Guest, AnyCommand | ProtocolError], None],
        on_end: Callable[[Guest], None],
    ) -> None:
        stream.setblocking(True)
        self.number, self.pid, self.since = number, pid, time.time()
        self.wanted: Load | None = None
        """What it loaded or attached to; None until it is let in."""
        self._stream, self._outbox = stream, Outbox(stream)
        self._inbox: Inbox[AnyCommand] = Inbox(decode_command)
        self._on_message, self._on_end = on_message, on_end

    @property
    def person(self) -> Person:
        return Person(program=self.wanted.program if self.wanted else "", pid=self.pid, since=self.since)

    def begin(self) -> None:
        """Start to read."""
        threading.Thread(target=self._read, name=f"guest-{self.number}", daemon=True).start()

    def let_in(self, wanted: Load) -> None:
        """From here on it may take its time, and send long frames."""
        self.wanted = wanted

    def send(self, event: AnyEvent) -> None:
        """Never blocks. A frame that is too long is left out; a guest that is gone makes no error."""
        try:
            self._outbox.put(encode(event))
        except ProtocolError as error:
            print(f"An event could not be sent: {error}", flush=True)

    def close(self) -> None:
        """Disconnect it."""
        self._outbox.close()

    def _read(self) -> None:
        try:
            deadline = None if self.number == 0 else time.monotonic() + HANDSHAKE_S
            self._inbox.limit = MAX_FRAME if self.number == 0 else HANDSHAKE_BYTES
            while (data := self._received(deadline)) and not self._outbox.closed:
                for message in self._inbox.feed(data):
                    self._on_message(self, message)
                if self.wanted is not None and deadline is not None:
                    deadline, self._inbox.limit = None, MAX_FRAME
        finally:
            self._on_end(self)
            self.close()
            # The descriptor stays until nothing refers to it: another thread may be about to send.

    def _received(self, deadline: float | None) -> bytes:
        """More bytes; b"" at the end, or once the deadline has passed."""
        try:
            if deadline is not None:
                waiting = select.poll()
                waiting.register(self._stream, select.POLLIN)
                if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
                    return b""
            return self._stream.recv(CHUNK)
        except OSError:
            return b""
