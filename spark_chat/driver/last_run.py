"""What ran last: the settings that came up, and how long each stage of the start took. Kept in state.toml."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from spark_chat.meters.session import Stage
from spark_chat.recipe.recipe import Recipe
from spark_chat.settings.problem import CannotSave
from spark_chat.settings.schema import Settings


class LastRun(Protocol):
    """Keeps the last configuration that ran. Neither method raises: the chat goes on without. Both touch the disk."""

    def read(self) -> Settings | None:
        """The settings that came up last; None where none are known."""
        ...

    def last_stages(self, recipe: Recipe, cold: bool) -> tuple[Stage, ...]:
        """Stages of the last start like it; empty where none is known."""
        ...

    def write(self, settings: Settings, recipe: Recipe, stages: tuple[Stage, ...], cold: bool) -> None:
        """Keep `settings`, which just came up as `recipe`, and the start's stage times; none where there
        was no start, the engine being taken over. `cold`: it had kernels to build or weights to read from the disk."""
        ...


class StateFile:
    """In the app's own state.toml, and starts.json for the stages."""

    def read(self) -> Settings | None:
        from spark_chat.settings.state import load_state

        return load_state().ran

    def last_stages(self, recipe: Recipe, cold: bool) -> tuple[Stage, ...]:
        from spark_chat.driver import starts

        return starts.last(recipe, cold)

    def write(self, settings: Settings, recipe: Recipe, stages: tuple[Stage, ...], cold: bool) -> None:
        from spark_chat.driver import starts
        from spark_chat.settings.state import State, load_state, save_state

        start = starts.of(recipe, stages, cold)
        if stages:
            starts.note(start)
        times = {stage.name: stage.seconds for stage in start.stages} or load_state().stages
        with suppress(CannotSave):  # a full disk must not end the chat; the next start only knows less
            save_state(State.of(settings, recipe.engine, recipe.model.name, times))
