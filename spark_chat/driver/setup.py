"""Setting this machine up for the model that fits it, beside the chat: fetch it, then build its kernels.

Both can be stopped at any moment and go on from there; nothing of the engine that runs is touched.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from spark_chat.driver.fitting import LING, Facts, Fit, Suited, fit
from spark_chat.locations import NoHome
from spark_chat.machine import Machine
from spark_chat.prepare.plan import Task
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings


class Step(Enum):
    """OFFERED: waits for a yes. STOPPED: was under way. READY: all is done but the engine's start."""

    OFFERED = "offered"
    FETCHING = "fetching"
    BUILDING = "building"
    STOPPED = "stopped"
    FAILED = "failed"
    READY = "ready"


@dataclass(frozen=True)
class Standing:
    """`text`: how far it is, or what went wrong; `remedy`: what to do then. `fraction`: None where it is not known."""

    fit: Fit
    step: Step
    text: str = ""
    fraction: float | None = None
    remedy: str = ""

    @property
    def runs(self) -> bool:
        return self.step in (Step.FETCHING, Step.BUILDING)


Report = Callable[[float | None, str], None]
Fetch = Callable[[Suited, Report], Awaitable[ModelRef]]
"""Raises SetupProblem. Cancelled, it leaves no process, and what came stays."""
Build = Callable[[ModelRef, Settings, Machine, Report], Awaitable[None]]


class SetupProblem(Exception):
    """`what` went wrong, and what to `remedy`, in sentences."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what, self.remedy = what, remedy


class Setup:
    """One at a time. `listener` is called on the loop's thread with each standing."""

    def __init__(
        self, facts: Facts, listener: Callable[[Standing], None], begun: bool = False,
        fetch: Fetch | None = None, build: Build | None = None,
    ) -> None:  # fmt: skip
        self._machine, self._listener = facts.machine, listener
        self._fetch, self._build = fetch or fetched, build or built
        self._task: asyncio.Task[None] | None = None
        found = fit(facts)
        if begun and found.offers:
            text = f"{facts.fetched / 1e9:.1f} GB of it are here"
            self.standing = Standing(found, Step.STOPPED, text, facts.fetched / found.model.download)
        else:
            self.standing = Standing(found, Step.OFFERED)

    def go_on(self, settings: Settings) -> None:
        """Fetch and build what is left. Nothing where that is under way."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(settings))

    async def stop(self) -> None:
        """Whatever runs; what came and what was built stays."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])

    async def _run(self, settings: Settings) -> None:
        try:
            self._tell(Step.FETCHING, "Looking for what is here")
            model = await self._fetch(self.standing.fit.model, lambda done, text: self._tell(Step.FETCHING, text, done))
            self._tell(Step.BUILDING, "Looking for what is built")

            def building(done: float | None, text: str) -> None:
                self._tell(Step.BUILDING, text, done)

            try:
                await self._build(model, settings, self._machine, building)
            except SetupProblem as problem:
                self._tell(Step.READY, f"Not all kernels could be built: {problem.what}", remedy=problem.remedy)
                return
            self._tell(Step.READY)
        except SetupProblem as problem:
            self._tell(Step.FAILED, problem.what, remedy=problem.remedy)
        except asyncio.CancelledError:
            self._tell(Step.STOPPED, self.standing.text.partition(", ")[0], self.standing.fraction)
            raise

    def _tell(self, step: Step, text: str = "", fraction: float | None = None, remedy: str = "") -> None:
        self.standing = replace(self.standing, step=step, text=text, fraction=fraction, remedy=remedy)
        self._listener(self.standing)


# ------------------------------------------------------------------ the real steps


async def fetched(model: Suited, report: Report) -> ModelRef:
    """From its hub, where it is not here and whole."""
    from spark_chat.models import find
    from spark_chat.models.sanity import ModelProblem
    from spark_chat.pull.pull import PullProblem, pull
    from spark_chat.pull.said import Request

    try:
        if there := await asyncio.to_thread(here, model.name):
            return find.at(Path(there), model.name)
        request = Request(repository=model.name)
        path, _ = await pull(request, lambda standing: report(standing.fraction, standing.text))
        return find.at(path, model.name)
    except PullProblem as problem:
        raise SetupProblem(problem.what, problem.remedy) from problem
    except ModelProblem as problem:
        raise SetupProblem(str(problem)) from problem


async def built(model: ModelRef, settings: Settings, machine: Machine, report: Report) -> None:
    """Its kernels, on an engine of a few layers that stands beside the chat's."""
    from spark_chat.engine.client import EngineClient
    from spark_chat.memory.meminfo import Memory, read
    from spark_chat.prepare.book import Book
    from spark_chat.prepare.plan import took
    from spark_chat.prepare.prepare import left, prepare
    from spark_chat.prepare.rehearsal import PrepareProblem
    from spark_chat.recipe.build import build
    from spark_chat.recipe.problem import RecipeProblem

    try:
        recipe = replace(build(settings, machine, model), aside=True)
        book, available = Book.here(), (read() or Memory()).available
        todo = await asyncio.to_thread(left, recipe, machine, book, available)
        how_long = took(todo)
        await prepare(
            recipe, machine, book, available, lambda done, text: report(done, f"{text} ({how_long})"), EngineClient
        )
    except PrepareProblem as problem:
        raise SetupProblem(problem.what, problem.remedy) from problem
    except RecipeProblem as problem:
        raise SetupProblem(str(problem)) from problem
    except (OSError, NoHome) as error:
        raise SetupProblem(f"What is built could not be kept: {error}.") from error


def look(machine: Machine, settings: Settings, model: Suited = LING) -> Facts:
    """Touches the disk, and asks nvidia-smi where a GPU has memory of its own: call it off the event loop."""
    from spark_chat import locations
    from spark_chat.memory.have import look as memory_of
    from spark_chat.models import small
    from spark_chat.pull.blobs import Repository
    from spark_chat.pull.room import free

    have = memory_of("sglang", machine)
    obstacle, way = _obstacle(machine, settings)
    cache, path, came = locations.hugging_face_cache(), here(model.name), 0
    if not path:
        blobs = (Repository(cache, model.name).folder / "blobs").glob("*")
        came = min(model.download, sum(file.stat().st_size for file in blobs if file.is_file()))
    return Facts(
        machine, have.total if have else machine.memory_bytes, free(cache), obstacle, way, came, path,
        _kernels(path, model.name, settings, machine) if path and not obstacle else None, small.SMALL.name,
    )  # fmt: skip


def _obstacle(machine: Machine, settings: Settings) -> tuple[str, str]:
    """What is in the way of setting it up, and what to do; empty where nothing is."""
    from spark_chat.driver import pulling
    from spark_chat.recipe.choose import LLAMA, installed, sglang_obstacle

    install = f"{sys.executable} -m pip install 'spark-chat[spark]' brings it (15 GB); then start again."
    if machine.gpu is not None and sglang_obstacle(machine) is not None:
        return "SGLang is not installed", install
    if not installed("huggingface_hub"):
        return "huggingface_hub is not installed", install.replace(" (15 GB)", "")
    if settings.engine.kind == LLAMA:
        return "engine.kind is llama.cpp", "Set it to auto in the settings, then /setup."
    if not pulling.allowed():
        return "HF_HUB_OFFLINE is set", "`spark-chat pull --offline-help` says what to copy where."
    return "", ""


def here(name: str) -> str:
    """Where the model of that name is, whole; empty where it is not."""
    from spark_chat.models import find
    from spark_chat.models.sanity import ModelProblem

    for ref in find.known():
        if ref.name == name:
            try:
                return find.at(Path(ref.path), name).path
            except ModelProblem:
                continue
    return ""


def _kernels(path: str, name: str, settings: Settings, machine: Machine) -> tuple[Task, ...] | None:
    from spark_chat.memory.meminfo import Memory, read
    from spark_chat.prepare.book import Book
    from spark_chat.prepare.prepare import left
    from spark_chat.recipe.build import build
    from spark_chat.recipe.problem import RecipeProblem

    try:
        recipe = build(settings, machine, ModelRef(name, path))
        return left(recipe, machine, Book.here(), (read() or Memory()).available)
    except (RecipeProblem, NoHome):
        return None
