"""Messages over a byte stream: one framing for an inherited descriptor and a unix socket's path alike.

Nothing here knows where the stream came from. A frame that is too long or can't be read comes out as a
ProtocolError *value* in its place, and what follows it is still read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

from spark_chat.engine.protocol import MAX_FRAME, ProtocolError

CHUNK = 256 * 1024
"""Bytes asked for at a time."""

Message = TypeVar("Message")


class Inbox(Generic[Message]):
    """Bytes in any split -> messages. Holds at most `limit` bytes of an unfinished frame."""

    def __init__(self, decode: Callable[[bytes], Message], limit: int = MAX_FRAME) -> None:
        self._decode = decode
        self.limit = limit
        self._parts: list[bytes] = []
        self._held = 0
        self._skipping = False

    @property
    def held(self) -> int:
        """Bytes of the unfinished frame that are kept."""
        return self._held

    def feed(self, data: bytes) -> list[Message | ProtocolError]:
        """The messages that `data` completes, in order."""
        found: list[Message | ProtocolError] = []
        *ended, rest = data.split(b"\n")
        for part in ended:
            found.extend(self._hold(part))
            if not self._skipping and self._held:
                found.append(self._read(b"".join(self._parts)))
            self._parts, self._held, self._skipping = [], 0, False
        found.extend(self._hold(rest))
        return found

    def _hold(self, part: bytes) -> list[ProtocolError]:
        if self._skipping or not part:
            return []
        if self._held + len(part) + 1 > self.limit:
            self._parts, self._held, self._skipping = [], 0, True
            return [ProtocolError(f"A message is over the limit of {self.limit:,} bytes.")]
        self._parts.append(part)
        self._held += len(part)
        return []

    def _read(self, frame: bytes) -> Message | ProtocolError:
        try:
            return self._decode(frame)
        except ProtocolError as error:
            return error


async def messages(
    stream: asyncio.StreamReader, decode: Callable[[bytes], Message]
) -> AsyncIterator[Message | ProtocolError]:
    """Messages of an asyncio stream until the other end is gone, for whatever reason."""
    inbox = Inbox(decode)
    while True:
        try:
            data = await stream.read(CHUNK)
        except OSError:
            return
        if not data:
            return
        for message in inbox.feed(data):
            yield message
