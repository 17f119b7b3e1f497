"""The UI's end: starts a worker, sends it commands, hands on its events, and leaves no process behind.

Shared by the TUI and `check`. Runs on an asyncio loop; every method and every callback is called on that loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import site
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from spark_chat.engine import logs
from spark_chat.engine.protocol import (
    AnyCommand,
    AnyEvent,
    Failed,
    ProtocolError,
    Shutdown,
    decode_event,
    encode,
)
from spark_chat.engine.wire import messages
from spark_chat.locations import NoHome
from spark_chat.recipe.recipe import Recipe

OnEvent = Callable[[AnyEvent], None]

STOP_S = 3.0
"""Seconds that a worker has to end by itself once it was asked to."""


class EngineClient:
    """One worker at a time. After `stop` or a failure it can be started again."""

    def __init__(self) -> None:
        self.log_path: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._on_event: OnEvent = lambda event: None
        self._stopping = False
        self._failed = False

    @property
    def pid(self) -> int | None:
        """Process id of the worker (also its group's), None where none was started."""
        return self._process.pid if self._process else None

    @property
    def alive(self) -> bool:
        """Whether there is a worker that has not ended."""
        return self._process is not None and not self._ended.is_set()

    def log_end(self, lines: int = 40) -> list[str]:
        """The last lines that the worker wrote, cleaned for a terminal."""
        return logs.tail(self.log_path, lines)

    async def start(self, recipe: Recipe, on_event: OnEvent, log: Path | None = None) -> None:
        """Start a worker for `recipe` and send it the load. Returns once it runs, not once it is ready.

        `on_event` is called for Progress..., then Ready or Failed(id=None), then whatever the commands bring. A worker
        that goes away without being stopped gives Failed(id=None, code "died"). `log` names the log file, else one is
        made in the log folder. Raises RuntimeError where a worker is already there, OSError where none can be started.
        """
        if self.alive:
            raise RuntimeError("The engine is already running.")
        ours, theirs = socket.socketpair()
        output = subprocess.DEVNULL
        try:
            output = self._open_log(log)
            self._process = _spawn(theirs.fileno(), output, recipe.environment)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
            if output >= 0:
                os.close(output)
        self._on_event, self._stopping, self._failed = on_event, False, False
        self._ended = asyncio.Event()
        _when_it_ends(self._process, asyncio.get_running_loop(), self._ended)
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._reading = asyncio.create_task(self._read(reader, self._process, self._ended))
        self.send(recipe.load())

    def _open_log(self, log: Path | None) -> int:
        """A descriptor for the worker's output. A disk that can't be written must not keep the chat from running."""
        try:
            if log is not None:
                descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                self.log_path = log
            else:
                self.log_path, descriptor = logs.create()
            return descriptor
        except (OSError, NoHome):
            self.log_path = None
            return subprocess.DEVNULL

    def send(self, command: AnyCommand) -> None:
        """Queue `command`; never blocks. Raises ProtocolError for one that is too long.

        A worker that is gone makes no error here: its end was or will be told by an event.
        """
        frame = encode(command)
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(frame)

    async def stop(self) -> None:
        """End the worker and wait until it is gone, at most a few seconds. Fine to call at any time, also twice."""
        self._stopping = True
        process, ended = self._process, self._ended
        if process is None:
            return
        try:
            self.send(Shutdown())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), STOP_S)
        finally:
            self.kill()
        await ended.wait()
        if self._reading is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading

    def kill(self) -> None:
        """End the worker and all of its group at once. For a process on its way out; else `stop`."""
        if self._process is not None and not self._ended.is_set():
            _kill_group(self._process.pid)

    async def _read(self, reader: asyncio.StreamReader, process: subprocess.Popen[bytes], ended: asyncio.Event) -> None:
        async for message in messages(reader, decode_event):
            if isinstance(message, ProtocolError):
                self._tell(
                    Failed(code="protocol", what=str(message), remedy="Restart the engine.", time=time.monotonic())
                )
            else:
                self._failed = self._failed or (isinstance(message, Failed) and message.id is None
                                                and message.code != "protocol")  # fmt: skip
                self._tell(message)
        if self._writer is not None:
            self._writer.close()
        if not ended.is_set():  # it closed its end: whatever still runs is of no use
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), STOP_S)
            if not ended.is_set():
                _kill_group(process.pid)
                await ended.wait()
        if not self._stopping and not self._failed:
            self._tell(self._death(process.returncode))

    def _tell(self, event: AnyEvent) -> None:
        try:
            self._on_event(event)
        except Exception as error:  # one bad reaction must not stop the reading
            asyncio.get_running_loop().call_exception_handler(
                {"message": "An event of the engine could not be taken in.", "exception": error}
            )

    def _death(self, code: int | None) -> Failed:
        if code is not None and code < 0:
            how = f"It was ended by signal {-code} ({_signal_name(-code)})."
        else:
            how = f"Its exit code was {code}."
        lines = self.log_end(1)
        return Failed(
            code="died",
            what="The engine's process has ended.",
            why=how + (f" The last line of its log: {lines[-1]}" if lines else ""),
            remedy="Restart the engine; the conversation is kept.",
            facts={"exit_code": code},
            time=time.monotonic(),
        )


def _spawn(descriptor: int, output: int, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A worker in a session, and so a process group, of its own."""
    root = str(Path(__file__).resolve().parents[2])
    variables = {**os.environ, **environment}
    if root not in [*site.getsitepackages(), site.getusersitepackages()]:  # a checkout
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, [root, variables.get("PYTHONPATH", "")]))
    arguments = [
        sys.executable, "-P",  # -P: no module of the folder that the chat was started in may stand in for ours
        "-m", "spark_chat.engine.worker", "--fd", str(descriptor), "--parent", str(os.getpid()),
    ]  # fmt: skip
    return subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=[descriptor],
        start_new_session=True, env=variables,
    )  # fmt: skip


def _when_it_ends(process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Set `ended` once the worker and its group are gone. A thread waits, so that no child watcher is needed."""

    def wait() -> None:
        if hasattr(os, "waitid"):
            with contextlib.suppress(ChildProcessError):  # not yet reaped, so its id can't have been given away
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            _kill_group(process.pid)
        process.wait()
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait, name="engine-end", daemon=True).start()


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
