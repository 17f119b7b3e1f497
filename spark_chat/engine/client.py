"""The UI's end: starts a worker, sends it commands, hands on its events, and leaves no process behind.

Shared by the TUI and `check`. Runs on an asyncio loop; every method and every callback is called on that loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import site
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from spark_chat.engine import logs
from spark_chat.engine.child import Child
from spark_chat.engine.protocol import AnyCommand, AnyEvent, Failed, ProtocolError, Shutdown, decode_event, encode
from spark_chat.engine.wire import messages
from spark_chat.recipe.recipe import Recipe

OnEvent = Callable[[AnyEvent], None]
Admit = Callable[[], Awaitable[None]]
"""Awaited before a process is spawned; what it raises refuses the start."""

STOP_S = 3.0
"""Seconds that a worker has to end by itself once it was asked to."""

_TELLING = [
    re.compile(pattern)
    for pattern in (r"GGML_ASSERT|what\(\):|[Oo]ut of memory", r"^\w*(Error|Exception)\b", r" E ", r"Fatal Python")
]
"""Lines of a log that say why it ended, the most telling kind first."""


class EngineClient:
    """One worker at a time. After `stop` or a failure it can be started again."""

    def __init__(self, worker: str = "spark_chat.engine.worker") -> None:
        """`worker`: the module that is run."""
        self.log_path: Path | None = None
        self._module = worker
        self._log: int | None = None
        self._child: Child | None = None
        self._ended = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._on_event: OnEvent = lambda event: None
        self._stopping = False
        self._failed = False

    @property
    def pid(self) -> int | None:
        """Process id of the worker (also its group's), None where none was started."""
        return self._child.pid if self._child else None

    @property
    def alive(self) -> bool:
        """Whether there is a worker that has not ended."""
        return self._child is not None and not self._ended.is_set()

    def log_end(self, lines: int = 40) -> list[str]:
        """The last lines that the worker wrote, cleaned for a terminal; also after its end, and without a disk."""
        return logs.end(self._log, lines) if self._log is not None else []

    async def start(
        self, recipe: Recipe, on_event: OnEvent, log: Path | None = None, admit: Admit | None = None
    ) -> None:
        """Start a worker for `recipe` and send it the load. Returns once it runs, not once it is ready.

        `on_event` is called for Progress..., then Ready or Failed(id=None), then whatever the commands bring. A worker
        that goes away without being stopped gives Failed(id=None, code "died"), and then none of its answers gets a
        Done. `log` names the log file, else one is made in the log folder. Raises RuntimeError where a worker is
        already there, OSError where none can be started, and what `admit` raises.
        """
        if self.alive:
            raise RuntimeError("The engine is already running.")
        if admit is not None:
            await admit()
        self._close_log()
        self.log_path, self._log = logs.open_for_worker(log)
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def on_end() -> None:
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(ended.set)

        ours, theirs = socket.socketpair()
        try:
            self._child = Child(
                _command(self._module, theirs.fileno()), _environment(recipe.environment),
                subprocess.DEVNULL if self._log is None else self._log, [theirs.fileno()], on_end,
            )  # fmt: skip
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self._on_event, self._ended, self._stopping, self._failed = on_event, ended, False, False
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._reading = asyncio.create_task(self._read(reader, self._writer, self._child, ended))
        self.send(recipe.load())

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
        child, ended = self._child, self._ended
        if child is None:
            return
        try:
            self.send(Shutdown())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), STOP_S)
        finally:
            child.kill()
        await ended.wait()
        if self._reading is not None and self._reading is not asyncio.current_task():
            await asyncio.wait([self._reading])

    def kill(self) -> None:
        """End the worker and all of its group at once. For a process on its way out; else `stop`."""
        if self._child is not None:
            self._child.kill()

    async def _read(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, child: Child, ended: asyncio.Event
    ) -> None:
        async for message in messages(reader, decode_event):
            if isinstance(message, ProtocolError):
                self._tell(
                    Failed(code="protocol", what=str(message), remedy="Restart the engine.", time=time.monotonic())
                )
                continue
            if isinstance(message, Failed) and message.id is None and message.code != "protocol":
                self._failed = True
            self._tell(message)
        writer.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), STOP_S)
        child.kill()  # it closed its end: whatever of it still runs is of no use
        await ended.wait()
        if not self._stopping and not self._failed:
            self._tell(self._death(child.exit_code))

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
            if -code == signal.SIGKILL:
                how += " That is also how the system ends a process when memory runs out."
        else:
            how = f"Its exit code was {code}."
        lines = self.log_end(120)
        telling = next((found for kind in _TELLING if (found := [x for x in lines if kind.search(x)])), lines)
        return Failed(
            code="died",
            what="The engine's process has ended.",
            why=how + (f" Its log says: {telling[-1]}" if telling else ""),
            remedy="Restart the engine; the conversation is kept.",
            facts={"exit_code": code},
            time=time.monotonic(),
        )

    def _close_log(self) -> None:
        if self._log is not None:
            os.close(self._log)
            self._log = None


def _command(module: str, descriptor: int) -> list[str]:
    # -P: no module of the folder that the chat was started in may stand in for ours.
    return [sys.executable, "-P", "-m", module, "--fd", str(descriptor), "--parent", str(os.getpid())]


def _environment(more: dict[str, str]) -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    variables = {**os.environ, **more}
    if root not in [*site.getsitepackages(), site.getusersitepackages()]:  # a checkout
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, [root, variables.get("PYTHONPATH", "")]))
    return variables


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
