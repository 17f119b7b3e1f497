"""The engine's process: one engine, one event loop for life, one answer at a time, for whoever is connected.

`python -m spark_chat.engine.worker --fd N --parent PID`. The first client is the one that spawned it; others come
through the door in the runtime folder. Each has a thread that reads its socket from the first moment, so that the end
of the last one ends the process, or begins its lingering, also while a load or a decode step keeps the others busy.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import faulthandler
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Coroutine

import msgspec

from spark_chat.engine import logs
from spark_chat.engine.answers import Answers
from spark_chat.engine.counting import counted
from spark_chat.engine.guest import Guest
from spark_chat.engine.guests import Guests
from spark_chat.engine.interface import Engine, EngineFailure
from spark_chat.engine.memory import held_bytes
from spark_chat.engine.model_path import off_the_wire
from spark_chat.engine.process import die_with_parent, end_at_once, leave_no_children, outlive_parent
from spark_chat.engine.protocol import (
    PROTOCOL,
    AnyCommand,
    Count,
    Failed,
    FailureCode,
    Load,
    Progress,
    Ready,
    Standing,
    Statistics,
    Stats,
)
from spark_chat.engine.table import ENGINES, make
from spark_chat.engine.tenure import Tenure

LOG_CHECK_S = 2.0
CLOSE_S = 1.0
"""Seconds that the engine has to free what can be freed, at the end."""


class Worker:
    """Takes commands, drives the engine, sends events."""

    def __init__(self, stream: socket.socket, parent: int) -> None:
        self._guests = Guests(self)
        self._waiting: deque[tuple[Guest, AnyCommand]] = deque()
        self._arrived = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._engine: Engine | None = None
        self._answers: Answers | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stream, self._parent = stream, parent
        self._tenure = Tenure(self._guests.welcome)
        self._began = time.time()
        self._marks: list[tuple[str, float]] = []
        self._progress: Progress | None = None

    def run(self) -> None:
        """Load, then serve until the last client is gone and nobody comes any more."""
        self._guests.welcome(self._stream, self._parent)
        threading.Thread(target=self._keep_log, name="log", daemon=True).start()
        command = self._first()
        ready = self._load(command)
        if ready is not None:
            asyncio.run(self._serve(ready))
        self._tenure.end()

    # ------------------------------------------------------------ on the guests' threads

    def command(self, guest: Guest, command: AnyCommand) -> None:
        self._waiting.append((guest, command))
        self._arrived.set()
        self._on_loop(self._wake.set)

    def gone(self, guest: Guest) -> None:
        if self._answers is not None:
            self._on_loop(self._answers.gone, guest)

    def greet(self, guest: Guest) -> None:
        if self._guests.ready is not None:
            self._on_loop(self._take_over, guest, self._guests.ready)
        else:
            text = "Another window is starting this engine."
            guest.send(self._progress or Progress(stage="start", text=text, time=time.monotonic()))

    def _take_over(self, guest: Guest, ready: Ready) -> None:
        """First this process outlives the chat that spawned it, then the guest may rely on it."""
        assert self._answers is not None
        outlive_parent()
        guest.send(self._answers.past(ready, self._stages(ready.time)))

    def standing(self) -> Standing:
        loaded, ready, now = self._guests.loaded, self._guests.ready, time.monotonic()
        return Standing(
            pid=os.getpid(), engine=loaded.engine if loaded else "", model=loaded.model if loaded else "",
            app=loaded.app if loaded else "", since=self._began, ready_s=now - ready.time if ready else None,
            memory_bytes=held_bytes(), time=now,
        )  # fmt: skip

    def end(self) -> None:
        if self._guests.ready is None:
            self._end_now()  # a load can't be interrupted in any other way
        timer = threading.Timer(CLOSE_S, self._end_now)
        timer.daemon = True
        timer.start()
        self._on_loop(self._close)

    def _on_loop(self, deed: Callable[..., object], *given: object) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it is closed: the process ends
                self._loop.call_soon_threadsafe(deed, *given)

    def _end_now(self) -> None:
        self._tenure.end()
        end_at_once()

    # ------------------------------------------------------------ load

    def _first(self) -> Load:
        while True:
            self._arrived.wait()
            self._arrived.clear()
            while self._waiting:
                guest, command = self._waiting.popleft()
                if isinstance(command, Load):
                    self._guests.let_in(guest, command)
                    return command
                what = f"The first command must be load, not {type(command).__name__.lower()}."
                guest.send(Failed(code="protocol", what=what, time=time.monotonic()))

    @staticmethod
    def _keep_log() -> None:
        while True:
            logs.shorten(sys.stderr.fileno())
            time.sleep(LOG_CHECK_S)

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
            self._guests.loaded = command
            self._guests.findable = self._tenure.begin(command, self._report)
            self._marks = [("start", time.monotonic())]
            self._engine = make(command.engine)
            path = off_the_wire(command.model)
            return self._engine.load(msgspec.structs.replace(command, model=path), self._report)
        except EngineFailure as failure:
            self._fail_with(failure)
        except MemoryError:
            traceback.print_exc()
            self._fail("memory", "Memory ran out while the model was loading.", remedy="Choose a smaller model.")
        except Exception as error:
            traceback.print_exc()
            self._fail("load", "The engine could not start.", f"{type(error).__name__}: {error}", "See the log's end.")
        return None

    def _report(self, stage: str, fraction: float | None, text: str) -> None:
        self._progress = Progress(stage=stage, fraction=fraction, text=text, time=time.monotonic())
        if self._marks and self._marks[-1][0] != stage:
            self._marks.append((stage, self._progress.time))
        self._guests.tell(self._progress)

    def _stages(self, ready: float) -> dict[str, float]:
        """How long each stage of the start took, seconds."""
        took: dict[str, float] = {}
        ends = [moment for _, moment in self._marks[1:]] + [ready]
        for (name, begun), ended in zip(self._marks, ends, strict=True):
            took[name] = took.get(name, 0.0) + max(0.0, ended - begun)
        return took

    # ------------------------------------------------------------ serve

    async def _serve(self, ready: Ready) -> None:
        assert self._engine is not None
        self._loop = asyncio.get_running_loop()
        if not await self._warm():
            return
        self._answers = Answers(self._engine)
        self._guests.became_ready(msgspec.structs.replace(ready, time=time.monotonic()))
        if self._guests.loaded is not None and self._guests.loaded.linger_s > 0:
            outlive_parent()
        while True:
            while self._waiting:
                self._obey(*self._waiting.popleft())
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
            self._fail_with(failure)
        except Exception as error:
            traceback.print_exc()
            self._fail("load", "The engine's first tokens failed.", f"{type(error).__name__}: {error}",
                       "See the log's end.")  # fmt: skip
        else:
            return True
        return False

    def _obey(self, guest: Guest, command: AnyCommand) -> None:
        assert self._engine is not None and self._answers is not None
        if isinstance(command, Stats):
            try:
                facts = self._engine.statistics()
            except Exception as error:  # figures are no reason to end an engine that answers
                traceback.print_exc()
                facts = {"error": f"{type(error).__name__}: {error}"}
            guest.send(Statistics(memory_bytes=held_bytes(), facts=facts, time=time.monotonic()))
        elif isinstance(command, Count):
            self._spawn(self._count(guest, command))
        elif not self._answers.obey(guest, command):
            what = f"A {type(command).__name__.lower()} command can't come now."
            guest.send(Failed(code="protocol", what=what, time=time.monotonic()))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _count(self, guest: Guest, command: Count) -> None:
        guest.send(await counted(self._engine, command))

    def _close(self) -> None:
        if self._engine is not None:
            with contextlib.suppress(Exception):
                self._engine.close()
        sys.stderr.flush()
        self._end_now()

    # ------------------------------------------------------------ failures

    def _fail_with(self, failure: EngineFailure) -> None:
        self._guests.tell(
            Failed(
                code=failure.code, what=failure.what, why=failure.why, remedy=failure.remedy,
                facts=failure.facts, time=time.monotonic(),
            )
        )  # fmt: skip

    def _fail(self, code: FailureCode, what: str, why: str = "", remedy: str = "") -> None:
        self._fail_with(EngineFailure(code, what, why, remedy))


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
    Worker(socket.socket(fileno=options.fd), options.parent).run()


if __name__ == "__main__":
    main()
