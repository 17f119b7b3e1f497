"""A worker's hold on the one place for an engine: the lock, and the door through which others find it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

from spark_chat import locations
from spark_chat.engine import lock as locks
from spark_chat.engine.door import Door, knock
from spark_chat.engine.interface import EngineFailure, Report
from spark_chat.engine.lock import EngineLock, Holder
from spark_chat.engine.protocol import Load
from spark_chat.engine.refusals import clock

WAIT_S = 30.0
"""How long an engine that is on its way out is waited for, seconds."""
TELL_AFTER_S = 0.5
STEP_S = 0.02


class Tenure:
    """`welcome`: gets each connection at the door."""

    def __init__(self, welcome: Callable[[socket.socket, int], None]) -> None:
        self._welcome = welcome
        self._lock: EngineLock | None = None
        self._door: Door | None = None

    def begin(self, load: Load, report: Report) -> bool:
        """Take the place; whether there is a door now. Raises EngineFailure with code "held" where another engine has
        it; "look" in its facts says that it can be asked. Where no file can be made the engine goes without, and one
        that stands aside does."""
        if load.aside:
            return False
        try:
            folder = locks.folder()
            lock = EngineLock(folder)
            self._wait(lock, folder, report)
        except (OSError, locations.NoHome) as error:
            print(f"This engine has no lock and no door: {error}", flush=True)
            return False
        self._lock = lock
        lock.tell(Holder(pid=os.getpid(), program=load.program, model=load.model, since=time.time()))
        lock.keep_for_group()
        try:
            self._door = Door(folder, self._welcome)
            self._door.open()
        except OSError as error:
            print(f"This engine has no door: {error}", flush=True)
            return False
        return True

    def _wait(self, lock: EngineLock, folder: Path, report: Report) -> None:
        """Until the lock is ours."""
        began = time.monotonic()
        told = False
        while not lock.take():
            answers = knock(folder)
            if answers is not None:
                answers.close()
                raise EngineFailure("held", "Another engine was started meanwhile.", look=True)
            waited = time.monotonic() - began
            if waited > TELL_AFTER_S and not told:
                told = True
                report("start", None, "Waiting for the engine before this one to be gone.")
            if waited > WAIT_S:
                raise _stuck(locks.holder() or Holder())
            time.sleep(STEP_S)

    def end(self) -> None:
        """Close the door. The lock goes with the process and its group."""
        if self._door is not None:
            self._door.close()


def _stuck(holder: Holder) -> EngineFailure:
    who = f"It is of {holder.program}, pid {holder.pid}, since {clock(holder.since)}." if holder.pid else ""
    return EngineFailure(
        "held", "Another engine of yours does not end, and there is room for one.", who,
        "`spark-chat stop --force` ends it.",
    )  # fmt: skip
