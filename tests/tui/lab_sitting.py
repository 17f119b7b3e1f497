"""A chat on the real driver over a scripted engine, with the screens of the lab."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.widgets import Input

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Phase
from spark_chat.settings.resolve import resolve
from spark_chat.tui.app import SparkApp
from spark_chat.tui.lab.check import CheckScreen
from spark_chat.tui.lab.compare import CompareScreen
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script
from tests.lab.scripted import Scripted
from tests.tui.sitting import Clock, Sitting


@asynccontextmanager
async def lab(
    *sets: str, size: tuple[int, int] = (110, 40), **script: Any
) -> AsyncIterator[tuple[Sitting, FakeEngine]]:
    """A chat on the real driver over a scripted engine."""
    engine = FakeEngine(Script(**{"tokens": 13, "drafts": 2, **script}))

    def make(listener: Any) -> Driver:
        return Driver(listener, MACHINE, engine.client, FakeModels(), FakeLastRun())

    app = SparkApp(resolve(("ui.tour=false", *sets), environ={}), engine=make, clock=Clock())
    async with app.run_test(size=size) as pilot:
        found = Sitting(app, pilot, [])
        await found.until(lambda: app.room and app.session.snapshot.phase is Phase.READY, "the engine")
        await found.until(lambda: app.opening.opened and app.focused, "the start")
        yield found, engine
        if app.is_running:
            await app.opening.leave()


async def open_check(found: Sitting) -> CheckScreen:
    await found.pilot.press("f6")
    await found.until(lambda: isinstance(found.app.screen, CheckScreen) and found.app.screen.is_mounted, "the screen")
    await found.pilot.pause()
    screen = found.app.screen
    assert isinstance(screen, CheckScreen)
    return screen


async def open_compare(found: Sitting, measured: Scripted) -> CompareScreen:
    found.app.measuring_driver = lambda listener, keeper: Driver(  # type: ignore[method-assign]
        listener, MACHINE, measured.client, FakeModels(), keeper
    )
    await found.pilot.press("f7")
    await found.until(lambda: isinstance(found.app.screen, CompareScreen) and found.app.screen.is_mounted, "the screen")
    screen = found.app.screen
    assert isinstance(screen, CompareScreen)
    screen.query_one(Input).value = "code"
    await found.pilot.pause()
    return screen
