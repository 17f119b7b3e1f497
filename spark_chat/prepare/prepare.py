"""All that a recipe needs compiled, task by task; what is done is noted at once, so that a later run goes on there."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spark_chat import locations
from spark_chat.machine import Machine
from spark_chat.prepare import plan, steps
from spark_chat.prepare.book import Book
from spark_chat.prepare.plan import Task
from spark_chat.prepare.rehearsal import Client, PrepareProblem, Report, rehearse
from spark_chat.recipe.recipe import Recipe

LOCK = ".lock"
REHEARSAL = "rehearsal"
"""The short checkpoint lies in it while an engine starts on it."""


class Busy(PrepareProblem):
    """Another one is at it."""


def left(recipe: Recipe, machine: Machine, book: Book, available: int) -> tuple[Task, ...]:
    """What is not compiled yet, in order; nothing where the model can't be read, which its start will say."""
    try:
        config: Any = json.loads((Path(recipe.model.path) / "config.json").read_bytes())
    except (OSError, ValueError):
        config = {}
    shape = config if isinstance(config, dict) else {}
    done = book.done()
    return tuple(
        task for task in plan.tasks(recipe, machine, available, shape, book.took()) if task.key not in done
    )  # fmt: skip


async def prepare(
    recipe: Recipe, machine: Machine, book: Book, available: int, report: Report, client: Callable[[], Client]
) -> int:
    """How many tasks were done. Raises PrepareProblem. Cancelling it leaves no process; finished tasks stay done."""
    count = 0
    with alone(book.folder):
        for task in left(recipe, machine, book, available):
            began = time.monotonic()
            if task.kind == "flashinfer":
                await steps.run(flashinfer(machine), _environment(recipe, task), task.title, report)
            else:
                await rehearse(recipe, client(), report, task.jobs, book.folder / REHEARSAL)
            await asyncio.to_thread(book.note, task.key, time.monotonic() - began)
            count += 1
    return count


def flashinfer(machine: Machine) -> list[str]:
    """The command. Raises PrepareProblem where the chip is not known."""
    if machine.gpu is None or machine.gpu.capability is None:
        raise PrepareProblem("The GPU's compute capability is not known.", "`spark-chat doctor` says why.")
    major, minor = machine.gpu.capability
    return [sys.executable, "-P", "-m", "spark_chat.prepare.flashinfer_build", str(major), str(minor)]


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One at a time; the lock goes with its holder, however it dies. Raises Busy."""
    locations.made(folder)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy("Another spark-chat is preparing right now.", "Wait until it is done.") from None
        yield
    finally:
        os.close(descriptor)


def _environment(recipe: Recipe, task: Task) -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    return {**recipe.environment, "MAX_JOBS": str(task.jobs), "PYTHONPATH": path}
