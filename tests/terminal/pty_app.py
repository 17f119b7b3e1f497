"""A program on a pseudo terminal, with a screen one can look at (pyte) and logs of the bytes both ways."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte
from ptyprocess import PtyProcess

ROOT = Path(__file__).parents[2]
DEADLINE_S = 30.0
PASTE_START, PASTE_END = b"\x1b[200~", b"\x1b[201~"


class _Screen(pyte.Screen):
    """pyte stumbles over private modes of these two reports."""

    def report_device_status(self, mode: int, **_: object) -> None:
        return

    def report_device_attributes(self, mode: int = 0, **_: object) -> None:
        return


class PtyApp:
    """`with PtyApp([...]) as app`: starts it, and ends its whole process group at the end.

    `environment` is all that the program gets besides PATH, HOME (unless set here) and a UTF-8 locale.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        size: tuple[int, int] = (80, 24),
        term: str = "xterm-256color",
    ) -> None:
        columns, rows = size
        keep = {name: os.environ[name] for name in ("PATH", "HOME", *_XDG) if name in os.environ}
        env = {**keep, "LANG": "C.UTF-8", "TERM": term, "PYTHONPATH": str(ROOT), **(environment or {})}
        self.output = bytearray()
        self.input = bytearray()
        self.screen = _Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._process = PtyProcess.spawn(list(command), dimensions=(rows, columns), env=env, cwd=str(ROOT))
        self._ended = False

    @classmethod
    def python(cls, module: str, *arguments: str, **options: object) -> PtyApp:
        return cls([sys.executable, "-m", module, *arguments], **options)  # type: ignore[arg-type]

    def __enter__(self) -> PtyApp:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill(signal.SIGKILL)
        with contextlib.suppress(Exception):
            self._process.close(force=True)

    # -- looking

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    @property
    def descriptor(self) -> int:
        """Of the terminal's near end."""
        return int(self._process.fd)

    @property
    def text(self) -> str:
        """The screen, rows joined by newlines."""
        return "\n".join(row.rstrip() for row in self.screen.display)

    def pump(self, wait_s: float = 0.05) -> bool:
        """Takes in what the program wrote; False where nothing came within `wait_s`, or it has ended."""
        if self._ended or not select.select([self._process.fd], [], [], wait_s)[0]:
            return False
        try:
            data = os.read(self._process.fd, 65_536)
        except OSError:
            data = b""
        if not data:
            self._ended = True
            return False
        self.output += data
        self._stream.feed(data)
        return True

    def wait_for(self, seen: Callable[[], object] | str, deadline_s: float = DEADLINE_S) -> None:
        """Until `seen()` is true, or the text `seen` is on the screen. Raises AssertionError with the screen."""
        look = (lambda: seen in self.text) if isinstance(seen, str) else seen
        until = time.monotonic() + deadline_s
        while not look():
            assert time.monotonic() < until, f"waited {deadline_s} s for {seen!r}; the screen:\n{self.text}"
            if not self.pump() and self._ended and not look():
                raise AssertionError(f"it ended before {seen!r}; its last output:\n{bytes(self.output[-2000:])!r}")

    def settle(self, quiet_s: float = 0.2, deadline_s: float = DEADLINE_S) -> None:
        """Until nothing was written for `quiet_s`."""
        until = time.monotonic() + deadline_s
        while self.pump(quiet_s) and time.monotonic() < until:
            pass

    # -- doing

    def send(self, data: bytes | str) -> None:
        """Types; takes in output meanwhile, as a terminal does."""
        data = data.encode() if isinstance(data, str) else data
        self.input += data
        view = memoryview(data)
        os.set_blocking(self._process.fd, False)
        try:
            while view:
                _, writable, _ = select.select([], [self._process.fd], [], 0.05)
                if writable:
                    with contextlib.suppress(BlockingIOError):
                        view = view[os.write(self._process.fd, view) :]
                while self.pump(0):
                    pass
        finally:
            os.set_blocking(self._process.fd, True)

    def paste(self, data: bytes) -> None:
        """As a terminal with bracketed paste does, the line ends left alone."""
        self.send(PASTE_START + data + PASTE_END)

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self._process.setwinsize(rows, columns)

    def kill(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, number)

    def hang_up(self) -> None:
        """The terminal goes away."""
        self._ended = True
        self._process.fileobj.close()

    def wait_ended(self, deadline_s: float = DEADLINE_S) -> int:
        """Its exit status; minus the signal's number where one ended it."""
        until = time.monotonic() + deadline_s
        while self._process.isalive():
            assert time.monotonic() < until, f"still running after {deadline_s} s; the screen:\n{self.text}"
            self.pump()
        while self.pump(0):
            pass
        status = self._process.exitstatus
        return int(status) if status is not None else -int(self._process.signalstatus)


_XDG = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")
