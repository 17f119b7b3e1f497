"""The models of this machine, for the driver."""

from __future__ import annotations

import asyncio
from pathlib import Path

from spark_chat.driver.models import Download, Found
from spark_chat.machine import Machine
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings


class Library:
    """Looks on the disk."""

    async def look(self, settings: Settings, machine: Machine) -> Found | Download:
        """The model that `settings` mean. Raises RecipeProblem where there is none."""
        return await asyncio.to_thread(_look, settings)


def _look(settings: Settings) -> Found:
    named = settings.engine.model
    path = Path(named).expanduser()
    if named and path.exists():
        return Found(ModelRef(path.name, str(path)))
    raise RecipeProblem(
        f"There is no model {named!r} on this machine." if named else "No model is on this machine.",
        "Give the path of a .gguf file with --model.",
        key="engine.model",
    )
