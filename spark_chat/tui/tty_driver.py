"""Textual's Linux driver, with pastes taken out of the bytes before its parser sees them: see `keystream`.

A feeder thread reads the terminal and writes key bytes to a pipe, which the driver reads in the terminal's place. A
paste travels through the pipe as a short bracketed ticket and is exchanged for its text on the way out, so its place
among the keys is kept. What may go: all of it, once Textual keeps ESC, NUL and foreign bytes of a paste.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import time
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ScreenStackError
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from spark_chat.tui.keystream import END, START, KeyStream, Pasted

if TYPE_CHECKING:
    from textual.app import App

READ = 65_536
IDLE_S = 0.1

FOCUS_WITHIN_S = 3.0
"""Seconds that typing waits for a widget to have the focus; an app without one gets it then."""

LOST_FOR_S = 5.0
"""Seconds that the app has to end by itself once its terminal is gone; then the process ends, however it hangs."""

_running: TtyDriver | None = None


def write_to_terminal(data: str) -> bool:
    """Sends a control sequence, whole, between two frames. False where there is no terminal to send it to."""
    if _running is None or _running.lost:
        return False
    _running.write(data)
    return True


class TtyDriver(LinuxDriver):
    """Give it to the app: `super().__init__(driver_class=TtyDriver)`."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._chat = app
        self._stream = KeyStream()  # outlives a suspension: an Enter that is held then is pressed afterwards
        self._unread = b""

    lost = False
    """The terminal is gone."""

    _drawing = False
    _writing = False

    def start_application_mode(self) -> None:
        global _running
        self._terminal = self.fileno
        self._writing = True
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._drawing = True
        _running = self

    def write(self, data: str) -> None:
        """Nothing while the terminal is lent to another program: its writer is gone, and a queue that nobody empties
        would hold the app."""
        if self._writing:
            super().write(data)

    def close(self) -> None:
        self._writing = False
        super().close()

    def stop_application_mode(self) -> None:
        global _running
        _running = None
        self._drawing = False
        super().stop_application_mode()

    def resume_application_mode(self) -> None:
        """Textual does this at every SIGCONT, and starts a second set of threads where it was not suspended: after a
        SIGSTOP, which tells nobody, and at a hang-up, where the kernel sends SIGHUP and SIGCONT."""
        if self._drawing:
            if self.lost or not os.isatty(self._terminal):
                return
            self.suspend_application_mode()
        super().resume_application_mode()

    def run_input_thread(self) -> None:
        terminal = self.fileno
        reading, writing = os.pipe()
        self._tickets: dict[str, str] = {}
        over = Event()
        feeder = Thread(target=self._feed, args=(terminal, writing, over), name="spark-chat-keys", daemon=True)
        self.fileno = reading
        feeder.start()
        try:
            while not self.exit_event.is_set():
                with contextlib.suppress(Exception):  # a sequence its parser chokes on must not end the input
                    super().run_input_thread()
        finally:
            self.fileno = terminal
            over.set()
            self._unread = _rest(reading)
            os.close(reading)
            feeder.join()

    def process_message(self, message: Message) -> None:
        if isinstance(message, events.Paste) and (text := self._tickets.pop(message.text, None)) is not None:
            message = events.Paste(text)
        super().process_message(message)

    def _wait_for_focus(self, over: Event) -> None:
        """What is typed while the app starts waits in the terminal: a key that finds no widget with focus is lost."""
        until = time.monotonic() + FOCUS_WITHIN_S
        while time.monotonic() < until:
            with contextlib.suppress(ScreenStackError):
                if self._chat.focused is not None:
                    return
            if over.wait(0.005):
                return

    def _feed(self, terminal: int, writing: int, over: Event) -> None:
        self._wait_for_focus(over)
        stream = self._stream
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        issued = 0
        try:
            _write(writing, self._unread)
            while not over.is_set():
                wait = IDLE_S if stream.deadline is None else max(0.0, min(IDLE_S, stream.deadline - time.monotonic()))
                if select.select([terminal], [], [], wait)[0]:
                    data = os.read(terminal, READ)
                    if not data:
                        raise EOFError
                    pieces = stream.feed(data, time.monotonic())
                else:
                    pieces = stream.tick(time.monotonic())
                for piece in pieces:
                    if isinstance(piece, Pasted):
                        issued += 1
                        ticket = f"paste {issued}"
                        self._tickets[ticket] = piece.text
                        _write(writing, START + ticket.encode() + END)
                    else:
                        _write(writing, decode(piece).encode())
        except BrokenPipeError:
            pass  # the driver stopped reading: it is leaving
        except (OSError, EOFError):  # the terminal is gone
            if not over.is_set():
                self.lost = True
                _write_to_nowhere(terminal)
                os.kill(os.getpid(), signal.SIGHUP)
                if not over.wait(LOST_FOR_S):
                    os._exit(128 + signal.SIGHUP)
        finally:
            os.close(writing)


def _write_to_nowhere(terminal: int) -> None:
    """Else Textual's writer dies at its next write, and its queue, once full, holds the app for ever."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        if os.fstat(descriptor).st_rdev == os.fstat(terminal).st_rdev:
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _rest(descriptor: int) -> bytes:
    """What lies in a pipe, without waiting for more."""
    data = b""
    while select.select([descriptor], [], [], 0)[0] and (more := os.read(descriptor, READ)):
        data += more
    return data


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
