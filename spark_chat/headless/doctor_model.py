"""What the doctor says of the chosen model's needs: its recipe, the memory it takes, and whether SGLang could run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from spark_chat.driver.guard import required
from spark_chat.driver.library import Library
from spark_chat.driver.models import Download
from spark_chat.headless import doctor_build, doctor_gpu, doctor_memory
from spark_chat.headless.finding import Finding
from spark_chat.machine import Machine
from spark_chat.memory import meminfo
from spark_chat.memory.have import look
from spark_chat.recipe.build import build
from spark_chat.recipe.choose import installed
from spark_chat.recipe.need import weight_files
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.recipe.recipe import Recipe
from spark_chat.settings.schema import Settings


def examine(settings: Settings, machine: Machine) -> Iterator[Finding]:
    yield from doctor_gpu.examine(machine)
    if machine.gpu is not None and installed("sglang"):
        yield from doctor_build.examine()
    recipe = chosen(settings, machine)
    have = look(recipe.engine if recipe is not None else "", machine)
    wanted = required(recipe, machine, have) if recipe is not None else None
    files: list[Path] = []
    if recipe is not None:
        try:
            files = weight_files(Path(recipe.model.path))
        except OSError:
            files = []
    name = recipe.model.name if recipe is not None else ""
    yield from doctor_memory.examine(meminfo.read(), have, wanted, name, files)


def chosen(settings: Settings, machine: Machine) -> Recipe | None:
    """What a start would run; None where that is not on the machine yet, or can't run: another line says so."""
    try:
        found = asyncio.run(Library(ask_hub=False).look(settings, machine))
        return None if isinstance(found, Download) else build(settings, machine, found.model)
    except RecipeProblem:
        return None
