"""The engine's process: one engine, one event loop for life, one socket to whoever started it.

`python -m spark_chat.engine.worker --fd N --parent PID`. A thread of its own reads the socket from the first moment,
so that the end of the file ends the process also while a load or a decode step keeps every other thread busy.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import faulthandler
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Coroutine

import msgspec

from spark_chat.engine import logs
from spark_chat.engine.counting import counted
from spark_chat.engine.interface import Engine, EngineFailure
from spark_chat.engine.memory import held_bytes
from spark_chat.engine.protocol import (
    PROTOCOL,
    Abort,
    AnyCommand,
    Count,
    Failed,
    FailureCode,
    Generate,
    Load,
    Progress,
    ProtocolError,
    Ready,
    Shutdown,
    Statistics,
    Stats,
    decode_command,
)
from spark_chat.engine.table import ENGINES, make
from spark_chat.engine.wire import Link

LOG_CHECK_S = 2.0


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent goes, where the kernel can (Linux)."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if parent and os.getppid() != parent:  # it went before the line above
        os._exit(0)


def leave_no_children() -> None:
    """Start a shell that kills this process group once this process is gone, however it went.

    What an engine starts (schedulers, compilers) is in the group; the kernel's signal at the parent's death reaches
    this process alone, and nothing of it runs after that.
    """
    if os.getpgrp() != os.getpid():
        return  # started by hand, in a group that is not ours to kill
    reading, _kept_open = os.pipe()
    with contextlib.suppress(OSError):
        subprocess.Popen(["/bin/sh", "-c", "read _; kill -9 0"], stdin=reading)
    os.close(reading)


def end_at_once() -> None:
    """This process and everything in its group, now."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


class Worker:
    """Reads commands, drives the engine, sends events."""

    def __init__(self, stream: socket.socket) -> None:
        self._link: Link[AnyCommand] = Link(stream, decode_command)
        self._waiting: deque[AnyCommand] = deque()
        self._arrived = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._engine: Engine | None = None
        self._answering: str | None = None
        self._unwanted: str | None = None
        self._ready = False
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self) -> None:
        """Load, then serve until Shutdown or the end of the socket."""
        threading.Thread(target=self._read, name="commands", daemon=True).start()
        threading.Thread(target=self._keep_log, name="log", daemon=True).start()
        command = self._first()
        ready = self._load(command)
        if ready is not None:
            asyncio.run(self._serve(ready))

    # ------------------------------------------------------------ commands in

    def _read(self) -> None:
        try:
            for message in self._link.receive():
                if isinstance(message, ProtocolError):
                    self._fail("protocol", str(message), remedy="The rest of the conversation is not affected.")
                elif isinstance(message, Shutdown) and not self._ready:
                    end_at_once()  # a load can't be interrupted in any other way
                else:
                    self._waiting.append(message)
                    self._arrived.set()
                    if self._loop is not None:
                        self._loop.call_soon_threadsafe(self._wake.set)
        except BaseException:
            traceback.print_exc()
        end_at_once()

    def _first(self) -> Load:
        while True:
            self._arrived.wait()
            self._arrived.clear()
            while self._waiting:
                command = self._waiting.popleft()
                if isinstance(command, Load):
                    return command
                self._fail("protocol", f"The first command must be load, not {type(command).__name__.lower()}.")

    @staticmethod
    def _keep_log() -> None:
        while True:
            logs.shorten(sys.stderr.fileno())
            time.sleep(LOG_CHECK_S)

    # ------------------------------------------------------------ load

    def _load(self, command: Load) -> Ready | None:
        try:
            if command.protocol != PROTOCOL:
                raise EngineFailure(
                    "protocol",
                    f"The chat speaks protocol {command.protocol} and the engine's process {PROTOCOL}.",
                    remedy="Restart the chat: it was updated while it ran.",
                )
            if command.engine not in ENGINES:
                raise EngineFailure(
                    "load",
                    f"There is no engine {command.engine!r}.",
                    f"Known are: {', '.join(ENGINES)}.",
                    "Set engine.kind to one of them, or to auto.",
                )
            self._engine = make(command.engine)
            return self._engine.load(command, self._report)
        except EngineFailure as failure:
            self._fail_with(failure, None)
        except MemoryError:
            traceback.print_exc()
            self._fail("memory", "Memory ran out while the model was loading.", remedy="Choose a smaller model.")
        except Exception as error:
            traceback.print_exc()
            self._fail("load", "The engine could not start.", f"{type(error).__name__}: {error}", "See the log's end.")
        return None

    def _report(self, stage: str, fraction: float | None, text: str) -> None:
        self._link.send(Progress(stage=stage, fraction=fraction, text=text, time=time.monotonic()))

    # ------------------------------------------------------------ serve

    async def _serve(self, ready: Ready) -> None:
        self._loop = asyncio.get_running_loop()
        if not await self._warm():
            return
        self._ready = True
        self._link.send(msgspec.structs.replace(ready, time=time.monotonic()))
        while True:
            while self._waiting:
                command = self._waiting.popleft()
                if isinstance(command, Shutdown):
                    self._close()
                    return
                self._obey(command)
            self._wake.clear()
            if not self._waiting:
                await self._wake.wait()

    async def _warm(self) -> bool:
        """What an engine does on the loop before it is ready; most do nothing."""
        warm = getattr(self._engine, "warm", None)
        if warm is None:
            return True
        try:
            await warm(self._report)
        except EngineFailure as failure:
            self._fail_with(failure, None)
        except Exception as error:
            traceback.print_exc()
            self._fail("load", "The engine's first tokens failed.", f"{type(error).__name__}: {error}",
                       "See the log's end.")  # fmt: skip
        else:
            return True
        return False

    def _obey(self, command: AnyCommand) -> None:
        if isinstance(command, Generate):
            if self._answering is not None:
                self._fail(
                    "request",
                    "An answer is still being written.",
                    remedy="Wait for it, or stop it first.",
                    id=command.id,
                )
                return
            self._answering = command.id
            self._spawn(self._answer(command))
        elif isinstance(command, Abort):
            if self._engine is not None and command.id == self._answering:
                self._unwanted = command.id
                self._engine.abort(command.id)
        elif isinstance(command, Count):
            self._spawn(self._count(command))
        elif isinstance(command, Stats):
            try:
                facts = self._engine.statistics() if self._engine is not None else {}
            except Exception as error:  # figures are no reason to end an engine that answers
                traceback.print_exc()
                facts = {"error": f"{type(error).__name__}: {error}"}
            self._link.send(Statistics(memory_bytes=held_bytes(), facts=facts, time=time.monotonic()))
        else:
            self._fail("protocol", f"A {type(command).__name__.lower()} command can't come now.")

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _count(self, command: Count) -> None:
        self._link.send(await counted(self._engine, command))

    async def _answer(self, command: Generate) -> None:
        assert self._engine is not None
        try:
            async for event in self._engine.generate(command):
                self._link.send(event)
                if self._unwanted == command.id:  # again: it may have come before the engine could take it
                    self._engine.abort(command.id)
        except EngineFailure as failure:
            self._fail_with(failure, command.id)
        except Exception as error:
            traceback.print_exc()
            self._fail(
                "request", "The engine could not answer.", f"{type(error).__name__}: {error}", "See the log's end.",
                id=command.id,
            )  # fmt: skip
        finally:
            self._answering = None

    def _close(self) -> None:
        if self._engine is not None:
            with contextlib.suppress(Exception):
                self._engine.close()
        sys.stderr.flush()
        end_at_once()

    # ------------------------------------------------------------ failures

    def _fail_with(self, failure: EngineFailure, id: str | None) -> None:
        self._link.send(
            Failed(
                id=id, code=failure.code, what=failure.what, why=failure.why, remedy=failure.remedy,
                facts=failure.facts, time=time.monotonic(),
            )
        )  # fmt: skip

    def _fail(self, code: FailureCode, what: str, why: str = "", remedy: str = "", id: str | None = None) -> None:
        self._link.send(Failed(id=id, code=code, what=what, why=why, remedy=remedy, time=time.monotonic()))


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the worker's process."""
    parser = argparse.ArgumentParser(prog="python -m spark_chat.engine.worker", description="The engine's process.")
    parser.add_argument("--fd", type=int, required=True, help="inherited descriptor of a connected stream socket")
    parser.add_argument("--parent", type=int, default=0, help="process id whose end ends this one")
    options = parser.parse_args(arguments)
    die_with_parent(options.parent)
    leave_no_children()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl+c belongs to the chat
    faulthandler.enable()
    os.set_inheritable(options.fd, False)  # an engine's own children must not hold the socket open
    Worker(socket.socket(fileno=options.fd)).run()


if __name__ == "__main__":
    main()
