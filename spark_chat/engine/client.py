"""The UI's end: takes over the engine that runs or starts a worker, sends it commands, and hands on its events.

Shared by the TUI and `check`. Runs on an asyncio loop; every method and every callback is called on that loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import site
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from spark_chat.engine import death, logs, visit
from spark_chat.engine.child import Child
from spark_chat.engine.codec import decode_event
from spark_chat.engine.configuration import told
from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.protocol import AnyCommand, AnyEvent, Failed, Leave, Left, ProtocolError, Ready, Shutdown
from spark_chat.engine.visit import Visit
from spark_chat.engine.wire import messages
from spark_chat.recipe.recipe import Recipe

OnEvent = Callable[[AnyEvent], None]
Admit = Callable[[], Awaitable[None]]
"""Awaited before a process is spawned; what it raises refuses the start."""

STOP_S = 3.0
"""Seconds that a worker has to end by itself once it was asked to."""
LOOKS = 8
"""How often a start looks again for an engine that came first, and is gone or shut at the next look."""


class EngineClient:
    """One engine at a time. After `stop`, `leave` or a failure it can be started again."""

    def __init__(self, worker: str = "spark_chat.engine.worker", alone: bool = False) -> None:
        """`worker`: the module that is run. `alone`: share no engine and leave none behind, since what is measured must
        be one that was started for it."""
        self._alone = alone
        self.log_path: Path | None = None
        self._module = worker
        self._log: int | None = None
        self._child: Child | None = None
        self._visit: Visit | None = None
        self._ended, self._gone = asyncio.Event(), asyncio.Event()
        self._ended.set()
        self._left: Left | None = None
        self._following: asyncio.Task[None] | None = None
        self._on_event: OnEvent = lambda event: None
        self._stopping = False
        self._failed = False

    @property
    def pid(self) -> int | None:
        """Process id of the worker (also its group's), None where there was none."""
        return self._child.pid if self._child else self._visit.pid if self._visit else None

    @property
    def alive(self) -> bool:
        """Whether there is an engine that has not ended and was not left."""
        return not self._ended.is_set()

    def log_end(self, lines: int = 40) -> list[str]:
        """The last lines that the worker wrote, cleaned for a terminal; also after its end, and without a disk."""
        if self._log is not None:
            return logs.end(self._log, lines)
        return logs.tail(self.log_path, lines)

    async def start(
        self, recipe: Recipe, on_event: OnEvent, log: Path | None = None, admit: Admit | None = None
    ) -> None:
        """Have the engine of `recipe`: the one that runs, where it is that one (Ready then has `past`), else a worker
        that is spawned. One that runs, is another and is used by nobody is ended. Returns once there is an engine or
        none can be had, not once it is ready.

        `on_event` is called for Progress..., then Ready or Failed(id=None), then whatever the commands bring. A worker
        that goes away without being stopped gives Failed(id=None, code "died"), and then none of its answers gets a
        Done. Code "held": somebody else has the engine. `log` names the log file, else one is made in the log folder.
        Raises RuntimeError where an engine is already there, OSError where none can be started, what `admit` raises.
        """
        if self.alive:
            raise RuntimeError("The engine is already running.")
        self._close_log()
        self.log_path = self._child = self._visit = self._left = None
        self._on_event, self._ended, self._stopping, self._failed = on_event, asyncio.Event(), False, False
        try:
            opened = await self._open(recipe, log, admit)
        except BaseException:
            self._ended.set()
            raise
        if opened:
            self._following = asyncio.create_task(self._follow(recipe, log, admit))

    async def _open(self, recipe: Recipe, log: Path | None, admit: Admit | None) -> bool:
        """Find an engine or spawn one; False where none can be had, which is told."""
        load = told(recipe.load(), recipe.environment, self._module, recipe.linger_s, self._alone)
        self._child = None
        try:
            self._visit = None if load.aside else await visit.have(load, recipe.fresh, self._alone)
        except visit.Refused as refused:
            self._failed = True
            self._ended.set()
            self._tell(refused.failure)
            return False
        if self._visit is None:
            if admit is not None:
                await admit()
            self._visit = await self._spawn(recipe, log)
            self.send(load)
        return True

    async def _spawn(self, recipe: Recipe, log: Path | None) -> Visit:
        if self._log is None:
            self.log_path, self._log = logs.open_for_worker(log)
        loop, gone = asyncio.get_running_loop(), asyncio.Event()

        def on_end() -> None:
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(gone.set)

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
        self._gone = gone
        reader, writer = await asyncio.open_connection(sock=ours)
        return Visit(reader, writer, messages(reader, decode_event), self._child.pid)

    def send(self, command: AnyCommand) -> None:
        """Queue `command`; never blocks. Raises ProtocolError for one that is too long.

        A worker that is gone makes no error here: its end was or will be told by an event.
        """
        if self._visit is not None:
            self._visit.send(command)

    async def stop(self) -> None:
        """End the engine and wait until it is gone, at most a few seconds; where others use it, leave it to them.
        Fine to call at any time, also twice."""
        await self._go(Shutdown())

    async def leave(self) -> Left | None:
        """Go. The engine stays where it lingers or others use it, which is told; else this is `stop`."""
        await self._go(Shutdown() if self._alone else Leave())
        return self._left

    async def _go(self, wish: Shutdown | Leave) -> None:
        self._stopping = True
        following = self._following
        if following is None or self._ended.is_set():
            return
        try:
            self.send(wish)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), STOP_S)
        finally:
            if not self._ended.is_set():
                self.kill()
        await self._ended.wait()
        if following is not asyncio.current_task():
            await asyncio.wait([following])

    def kill(self) -> None:
        """End the worker and all of its group at once. For a process on its way out; else `stop`. One that somebody
        else spawned is only disconnected."""
        if self._child is not None:
            self._child.kill()
        elif self._visit is not None:
            self._visit.close()

    # ------------------------------------------------------------ events

    async def _follow(self, recipe: Recipe, log: Path | None, admit: Admit | None) -> None:
        """Hand on events until the engine is gone or left."""
        try:
            looks = 0
            while await self._read() and not self._stopping:
                looks += 1
                if looks > LOOKS:
                    raise EngineFailure("held", "An engine of yours runs, and lets nobody in.", "",
                                        "`spark-chat stop --force` ends it.")  # fmt: skip
                if not await self._open(recipe, log, admit):  # another one came first, or the one that loaded it left
                    return
        except Exception as error:
            self._failed = True
            self._tell(death.before_start(error))
        finally:
            self._ended.set()

    async def _read(self) -> bool:
        """To the end of this connection. Whether to look again for an engine."""
        current, again, ready = self._visit, False, False
        assert current is not None
        if current.first is not None:
            ready = self._take(current.first)
        async for message in current.events:
            if isinstance(message, ProtocolError):
                self._tell(
                    Failed(code="protocol", what=str(message), remedy="Restart the engine.", time=time.monotonic())
                )
            elif isinstance(message, Left):
                self._left = message
                break
            elif isinstance(message, Failed) and message.code == "held" and message.facts.get("look"):
                again = True
            else:
                ready = self._take(message) or ready
        current.close()
        if self._left is not None:
            self._child = None  # it goes on without this client
            return False
        code = await self._until_gone()
        again = again or (code is None and not ready and not self._failed)
        if not again and not self._stopping and not self._failed:
            self._tell(death.of_worker(code, self.log_end(120)))
        return again

    def _take(self, message: AnyEvent) -> bool:
        """Hand it on; whether the engine is ready by it."""
        if isinstance(message, Failed) and message.id is None and message.code != "protocol":
            self._failed = True
        if isinstance(message, Ready) and message.past is not None and message.past.log:
            self.log_path = Path(message.past.log)
        self._tell(message)
        return isinstance(message, Ready)

    async def _until_gone(self) -> int | None:
        """The exit code of a worker that was spawned here, once it and its group are gone; None for another's."""
        child = self._child
        if child is None:
            return None
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), STOP_S)
        child.kill()  # it closed its end: whatever of it still runs is of no use
        await self._gone.wait()
        return child.exit_code or 0

    def _tell(self, event: AnyEvent) -> None:
        try:
            self._on_event(event)
        except Exception as error:  # one bad reaction must not stop the reading
            asyncio.get_running_loop().call_exception_handler(
                {"message": "An event of the engine could not be taken in.", "exception": error}
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
