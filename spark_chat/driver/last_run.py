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

    def write(self, settings: Settings, recipe: Recipe, stages: tuple[Stage, ...]) -> None:
        """Keep `settings`, which just came up as `recipe`, and the start's stage times."""
        ...


class StateFile:
    """In the app's own state.toml."""

    def read(self) -> Settings | None:
        from spark_chat.settings.state import load_state

        return load_state().ran

    def write(self, settings: Settings, recipe: Recipe, stages: tuple[Stage, ...]) -> None:
        from spark_chat.settings.state import State, save_state

        times: dict[str, float] = {}
        for stage in stages:  # a stage that came twice took what both took
            times[stage.name] = round(times.get(stage.name, 0.0) + stage.seconds, 3)
        with suppress(CannotSave):  # a full disk must not end the chat; the next start only knows less
            save_state(State.of(settings, recipe.engine, recipe.model.name, times))
