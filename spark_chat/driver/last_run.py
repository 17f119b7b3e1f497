"""What ran last: the settings that came up, and how long each stage of the start took. Kept in state.toml."""

from __future__ import annotations

from typing import Protocol

from spark_chat.meters.session import Stage
from spark_chat.recipe.recipe import Recipe
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
    """For this process's life only."""

    def __init__(self) -> None:
        self._settings: Settings | None = None

    def read(self) -> Settings | None:
        return self._settings

    def write(self, settings: Settings, recipe: Recipe, stages: tuple[Stage, ...]) -> None:
        self._settings = settings
