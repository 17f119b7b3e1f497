"""A driver with everything around it faked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Changed, Phase
from spark_chat.engine.protocol import Turn
from spark_chat.optimizations.optimization import Badge
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script
from tests.listener import Listener

HELLO = (Turn("user", "Hello"),)


class Rig:
    """A driver with everything around it faked."""

    def __init__(self) -> None:
        self.engine, self.models, self.listener = FakeEngine(), FakeModels(), Listener()
        self.last_run = FakeLastRun()
        self.driver = self.again()

    def again(self) -> Driver:
        """A driver as the next run of the program has it."""
        self.driver = Driver(
            self.listener, machine=MACHINE, client_factory=self.engine.client, models=self.models,
            last_run=self.last_run,
        )  # fmt: skip
        return self.driver

    @property
    def script(self) -> Script:
        return self.engine.script

    @property
    def phase(self) -> Phase:
        return self.driver.snapshot.phase

    def badge(self, name: str) -> Badge:
        return next(badge for badge in self.driver.snapshot.badges if badge.name == name)

    async def until_phase(self, phase: Phase) -> None:
        await self.listener.until(lambda update: isinstance(update, Changed) and update.snapshot.phase is phase)


def optimized(**values: Any) -> Settings:
    settings = Settings()
    return replace(settings, optimizations=replace(settings.optimizations, **values))


def sampled(**values: Any) -> Settings:
    settings = Settings()
    return replace(settings, sampling=replace(settings.sampling, **values))
