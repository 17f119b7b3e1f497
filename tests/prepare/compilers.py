"""Compilers that are none: each waits for a line in a FIFO, so that a test says how far they come, and then notes a
target as compiled. What is noted already is not compiled again, as with ninja. Other programs can be paced likewise.

The folder and the FIFO stand in the environment: SPARK_CHAT_TEST_TARGETS, SPARK_CHAT_TEST_PACE.
"""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.processes import of_home

COMPILER = 'read -r go <"$SPARK_CHAT_TEST_PACE" && echo compiled >>"$SPARK_CHAT_TEST_TARGETS/$1"'
"""A line for each time that a target was compiled, whole or not there: a kill leaves no half of one."""


def compiled(names: list[str], jobs: int) -> Iterator[int]:
    """Compile what is not yet, `jobs` at a time in order; how many are, each time that one comes to it."""
    folder = Path(os.environ["SPARK_CHAT_TEST_TARGETS"])
    left = [name for name in names if not (folder / name).exists()]
    running: deque[subprocess.Popen[bytes]] = deque()
    done = len(names) - len(left)
    yield done
    while left or running:
        while left and len(running) < jobs:
            running.append(subprocess.Popen(["/bin/sh", "-c", COMPILER, "compiler", left.pop(0)]))
        if running.popleft().wait():
            raise OSError("ninja: build stopped")
        done += 1
        yield done


class Pace:
    """The test's end: `release` lets so many go on. `home`: of the test, whose environment it adds to."""

    def __init__(self, home: Path) -> None:
        self.home, self.targets, fifo = home, home / "targets", home / "pace"
        self.targets.mkdir()
        os.mkfifo(fifo)
        self._fifo = os.open(fifo, os.O_RDWR)  # also to read: so it stays open, and no compiler waits for a writer
        os.environ |= {"SPARK_CHAT_TEST_TARGETS": str(self.targets), "SPARK_CHAT_TEST_PACE": str(fifo)}

    @classmethod
    @contextmanager
    def of(cls, home: Path) -> Iterator[Pace]:
        """What the test started and left ends with it."""
        pace = cls(home)
        try:
            yield pace
        finally:
            for process in of_home(home):
                process.kill()
            os.close(pace._fifo)
            for name in ("SPARK_CHAT_TEST_TARGETS", "SPARK_CHAT_TEST_PACE"):
                del os.environ[name]

    def release(self, count: int) -> None:
        os.write(self._fifo, b"\n" * count)

    def unused(self) -> int:
        """How many were let go on that never came; from now on they are not."""
        os.set_blocking(self._fifo, False)
        try:
            return len(os.read(self._fifo, 65_536))
        except BlockingIOError:
            return 0
        finally:
            os.set_blocking(self._fifo, True)

    def made(self) -> dict[str, int]:
        """Target -> how often it was compiled."""
        return {file.name: len(file.read_text().splitlines()) for file in self.targets.iterdir()}

    def waiting(self, name: str) -> bool:
        """Whether a process that has `name` in its command line is there: at it, or waiting for its turn."""
        return any(name in (process.info["cmdline"] or []) for process in of_home(self.home))
