"""Lines of standard input, whatever it is: a terminal, a pipe, a file. Read by a thread, one line for each that is
asked for, so that a pipe is read no faster than it is answered."""

from __future__ import annotations

import asyncio
import os
import select
import threading
from contextlib import suppress
from dataclasses import dataclass

CHUNK = 65_536


@dataclass(frozen=True)
class Refused:
    """A line that is no prompt; `sentence` says why."""

    sentence: str


class Reader:
    """`longest`: bytes that a line, or with `whole` everything, may have. Needs a running event loop."""

    def __init__(self, descriptor: int, longest: int, whole: bool = False) -> None:
        self._descriptor, self._longest, self._whole = descriptor, longest, whole
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | Refused | None] = asyncio.Queue()
        self._wanted = threading.Semaphore(0)
        self._buffer = bytearray()
        self._ended = False
        self._number = 0
        threading.Thread(target=self._read, name="lines", daemon=True).start()

    async def next(self) -> str | Refused | None:
        """The next line without its end; None at the end of the input, at every further call too."""
        self._wanted.release()
        return await self._lines.get()

    # ------------------------------------------------------------------ on the thread

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody asks any more
            while True:
                self._wanted.acquire()
                line = self._everything() if self._whole else self._line()
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def _more(self) -> bool:
        """Take in what comes next; False at the end."""
        if self._ended:
            return False
        try:
            select.select([self._descriptor], [], [])  # a shell may have left the descriptor non-blocking
            data = os.read(self._descriptor, CHUNK)
        except (OSError, ValueError):  # the terminal is gone, or there is no standard input
            data = b""
        self._ended = not data
        self._buffer += data
        return bool(data)

    def _line(self) -> str | Refused | None:
        looked_at, too_long = 0, False
        while (end := self._buffer.find(b"\n", looked_at)) < 0:
            looked_at = len(self._buffer)
            if looked_at > self._longest:
                self._buffer.clear()
                looked_at, too_long = 0, True
            if not self._more():
                break
        if end < 0:
            if not self._buffer and not too_long:
                return None
            end = len(self._buffer)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._number += 1
        if too_long or len(line) > self._longest:
            return self._too_long(f"Line {self._number} of the input")
        return self._decoded(line.removesuffix(b"\r"), f"Line {self._number} of the input")

    def _everything(self) -> str | Refused | None:
        too_long = False
        while self._more():
            if len(self._buffer) > self._longest:
                self._buffer.clear()
                too_long = True
        data = bytes(self._buffer)
        self._buffer.clear()
        if too_long:
            return self._too_long("The input")
        return self._decoded(data, "The input") if data else None

    def _too_long(self, what: str) -> Refused:
        return Refused(f"{what} has more than {self._longest:,} bytes, which is more than one prompt takes: not sent.")

    def _decoded(self, data: bytes, what: str) -> str | Refused:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            return Refused(
                f"{what} is not UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start:,}): not sent. "
                "Convert it first, such as with iconv -t utf-8."
            )
