"""Settings, machine and model -> recipe. Nothing is started, and no engine is imported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spark_chat.machine import Machine
from spark_chat.optimizations.table import OPTIMIZATIONS
from spark_chat.recipe.choose import choose
from spark_chat.recipe.memory_need import GIB
from spark_chat.recipe.profile import profile
from spark_chat.recipe.recipe import ModelRef, Recipe
from spark_chat.settings.schema import Settings


def build(settings: Settings, machine: Machine, model: ModelRef, notes: tuple[str, ...] = ()) -> Recipe:
    """The recipe. `notes`: why it is this model, where nobody named it; they stand in for the engine's own note.

    Raises RecipeProblem where `model` can't run here as asked.
    """
    choice = choose(settings.engine.kind, model, machine)
    added = profile(choice.engine, settings, machine, model)
    requested = {item.name: bool(getattr(settings.optimizations, item.name)) for item in OPTIMIZATIONS}
    unavailable = dict(added.unavailable)
    for item in OPTIMIZATIONS:
        reason = item.unavailable(choice.engine, machine)
        if reason is not None:
            unavailable[item.name] = reason
    args, environment = _configured(choice.engine, settings, machine, unavailable)
    linger = settings.engine.linger_s
    floor = settings.engine.memory_floor_gib
    return Recipe(
        engine=choice.engine,
        model=model,
        context=settings.engine.context,
        requested=requested,
        unavailable=unavailable,
        options=added.options,
        args={**added.args, **args, **(settings.engine.args or {})},
        environment={**added.environment, **environment},
        linger_s=added.linger_s if linger is None else linger,
        strict=settings.optimizations.strict,
        notes=(*(notes or filter(None, [choice.note])), *added.notes),
        memory_floor=floor * GIB if isinstance(floor, int) else None,
    )


def _configured(
    engine: str, settings: Settings, machine: Machine, unavailable: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """What the optimizations set. One that can't run is switched off, and then sets no argument: with another kind
    of model its "off" would choose for a layer that is not there. Its environment is set all the same."""
    off: dict[str, Any] = {name: False for name in unavailable}
    effective = replace(settings, optimizations=replace(settings.optimizations, **off))
    args: dict[str, Any] = {}
    environment: dict[str, str] = {}
    for item in OPTIMIZATIONS:
        own_args, own_environment = item.configure(engine, effective, machine)
        environment.update(own_environment)
        if item.name not in unavailable:
            args.update(own_args)
    return args, environment
