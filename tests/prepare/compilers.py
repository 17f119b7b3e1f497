"""Compilers that are none: each waits for a line in a FIFO, so that a test says how far they come, and then notes a
target as compiled. What is noted already is not compiled again, as with ninja.

The folder and the FIFO stand in the environment: SPARK_CHAT_TEST_TARGETS, SPARK_CHAT_TEST_PACE.
"""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Iterator
from pathlib import Path

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
    """The test's end: `release` lets so many compilers go on."""

    def __init__(self, home: Path) -> None:
        self.targets, fifo = home / "targets", home / "pace"
        self.targets.mkdir()
        os.mkfifo(fifo)
        self._fifo = os.open(fifo, os.O_RDWR)  # also to read: so it stays open, and no compiler waits for a writer
        self.variables = {"SPARK_CHAT_TEST_TARGETS": str(self.targets), "SPARK_CHAT_TEST_PACE": str(fifo)}

    def release(self, count: int) -> None:
        os.write(self._fifo, b"\n" * count)

    def made(self) -> dict[str, int]:
        """Target -> how often it was compiled."""
        return {file.name: len(file.read_text().splitlines()) for file in self.targets.iterdir()}

    def close(self) -> None:
        os.close(self._fifo)
