"""What an engine adds to a recipe on a given machine. One file an engine, named here; loaded when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from spark_chat.machine import Machine
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings


@dataclass(frozen=True)
class Profile:
    """`unavailable`: optimization -> why this model can't have it, beyond what engine and machine forbid. Its other
    fields are those of `Recipe`; a person's `engine.args` and the optimizations' own arguments win over `args`."""

    args: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    linger_s: int = 0
    """Where the settings leave it out."""
    notes: tuple[str, ...] = ()


MakeProfile = Callable[[Settings, Machine, ModelRef], Profile]

PROFILES: dict[str, str] = {
    "llama.cpp": "spark_chat.recipe.llama_profile:profile",
    "sglang": "spark_chat.recipe.sglang_profile:profile",
}


def profile(engine: str, settings: Settings, machine: Machine, model: ModelRef) -> Profile:
    """The profile of `engine` here. Raises RecipeProblem where it can't run `model`."""
    module, _, name = PROFILES[engine].partition(":")
    make: MakeProfile = getattr(import_module(module), name)
    return make(settings, machine, model)
