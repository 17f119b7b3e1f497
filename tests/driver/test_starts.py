"""Starts of a scripted engine: that fail, fetch a model first, follow one another, or are cut short."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Changed, Phase
from spark_chat.optimizations.optimization import State
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.settings.schema import Settings
from spark_chat.settings.state import load_state
from tests.driver.rig import Rig, optimized
from tests.fakes import MACHINE, FakeEngine, FakeModels
from tests.listener import Listener


async def test_a_failed_start_says_why_and_offers_what_ran(rig: Rig) -> None:
    await rig.driver.start(Settings())
    rig.script.start_failure = "llama.cpp could not load it."
    await rig.driver.restart(optimized(mtp=False))
    snapshot = rig.driver.snapshot
    assert snapshot.phase is Phase.FAILED
    assert snapshot.failure is not None and snapshot.failure.what == "llama.cpp could not load it."
    assert snapshot.log_end and snapshot.last_good == Settings()
    assert not rig.engine.alive

    rig.script.start_failure = ""
    await rig.driver.restart(snapshot.last_good)
    assert rig.phase is Phase.READY and rig.driver.snapshot.last_good is None


async def test_what_ran_in_an_earlier_run_of_the_program_is_offered_too(rig: Rig) -> None:
    await rig.driver.start(Settings())
    assert [stage.name for stage in rig.last_run.stages][-2:] == ["weights", "warm-up"]
    await rig.driver.close()
    rig.script.start_failure = "It broke."
    await rig.again().start(optimized(mtp=False))
    assert rig.driver.snapshot.last_good == Settings()


async def test_nothing_is_offered_where_the_same_settings_ran(rig: Rig) -> None:
    await rig.driver.start(Settings())
    rig.script.start_failure = "It broke."
    await rig.driver.restart(Settings())
    assert rig.driver.snapshot.last_good is None


async def test_a_model_that_is_not_there_is_a_sentence(rig: Rig) -> None:
    rig.models.problem = RecipeProblem("There is no model 'x'.", "Give a .gguf file with --model.", key="engine.model")
    await rig.driver.start(Settings())
    failure = rig.driver.snapshot.failure
    assert rig.phase is Phase.FAILED and failure is not None
    assert (failure.what, failure.facts) == ("There is no model 'x'.", {"key": "engine.model"})
    assert (rig.badge("humming").state, rig.badge("mtp").state) == (State.UNAVAILABLE, State.WAITING)
    assert not rig.engine.recipes


async def test_a_start_that_gets_no_worker_shows_nothing_of_the_one_before(rig: Rig) -> None:
    await rig.driver.start(Settings())
    rig.models.problem = RecipeProblem("There is no model 'x'.", "Give a .gguf file with --model.", key="engine.model")
    await rig.driver.restart(optimized(mtp=False))
    assert rig.phase is Phase.FAILED and rig.driver.snapshot.log_end == ()


async def test_a_small_download_starts_by_itself(rig: Rig) -> None:
    rig.models.size = 98_000_000
    await rig.driver.start(Settings())
    assert rig.listener.phases() == [Phase.STARTING, Phase.FETCHING, Phase.STARTING, Phase.READY]


async def test_a_large_download_waits_for_a_yes(rig: Rig) -> None:
    rig.models.size = 66_000_000_000
    await rig.driver.confirm()
    await rig.driver.start(Settings())
    progress = rig.driver.snapshot.progress
    assert rig.phase is Phase.ASKING and progress is not None and "66.0 GB" in progress.text
    assert rig.models.fetched == 0
    await rig.driver.confirm()
    assert rig.phase is Phase.READY and rig.models.fetched == 1


async def test_a_download_that_fails_is_a_sentence(rig: Rig) -> None:
    rig.models.size = 98_000_000
    rig.models.problem = RecipeProblem("The network can't be reached.", "Give a .gguf file with --model.")
    await rig.driver.start(Settings())
    assert rig.phase is Phase.FAILED and rig.badge("mtp").state is State.WAITING, "no engine was started, none failed"
    rig.models.problem = None
    await rig.driver.restart(Settings())
    assert rig.phase is Phase.READY


async def test_a_later_start_takes_the_place_of_one_under_way(rig: Rig) -> None:
    rig.script.hold_start = asyncio.Event()
    first = asyncio.create_task(rig.driver.start(Settings()))
    await rig.until_phase(Phase.STARTING)
    rig.script.hold_start = None
    await rig.driver.start(optimized(mtp=False))
    await first
    assert rig.phase is Phase.READY
    assert rig.engine.recipes[-1].requested["mtp"] is False


async def test_close_while_it_comes_up_leaves_nothing(rig: Rig) -> None:
    rig.script.hold_start = asyncio.Event()
    start = asyncio.create_task(rig.driver.start(Settings()))
    await rig.until_phase(Phase.STARTING)
    await rig.driver.close()
    await start
    assert rig.phase is Phase.STOPPED and not rig.engine.alive
    await rig.driver.start(Settings())
    assert rig.phase is Phase.STOPPED, "a closed driver stays closed"


async def test_close_right_after_it_came_up_leaves_the_engine_to_linger(rig: Rig) -> None:
    noted = threading.Event()
    rig.last_run.write = lambda *_: noted.wait(30)  # type: ignore[method-assign, assignment]
    start = asyncio.create_task(rig.driver.start(Settings()))
    await rig.until_phase(Phase.READY)
    close = asyncio.create_task(rig.driver.close())
    await rig.until_phase(Phase.STOPPED)
    noted.set()
    await close
    await start
    assert rig.engine.ends == ["leave"]


async def test_close_while_a_download_runs(rig: Rig) -> None:
    rig.models.size, rig.models.hold = 98_000_000, asyncio.Event()
    start = asyncio.create_task(rig.driver.start(Settings()))
    await rig.until_phase(Phase.FETCHING)
    await rig.driver.close()
    await start
    assert rig.phase is Phase.STOPPED and not rig.engine.recipes


async def test_a_cancelled_caller_cancels_its_start(rig: Rig) -> None:
    rig.script.hold_start = asyncio.Event()
    start = asyncio.create_task(rig.driver.start(Settings()))
    await rig.until_phase(Phase.STARTING)
    await rig.listener.until(lambda update: isinstance(update, Changed) and update.snapshot.recipe is not None)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert not rig.engine.alive


async def test_what_ran_is_noted_in_the_apps_own_file(home: Path) -> None:
    engine, listener = FakeEngine(), Listener()
    driver = Driver(listener, machine=MACHINE, client_factory=engine.client, models=FakeModels())
    await driver.start(optimized(draft_steps=5))
    await driver.close()
    noted = load_state()
    assert noted.ran == optimized(draft_steps=5)
    assert (noted.engine, noted.model) == ("llama.cpp", "small.gguf") and "weights" in noted.stages
    engine.script.start_failure = "It broke."
    again = Driver(listener, machine=MACHINE, client_factory=engine.client, models=FakeModels())
    await again.start(Settings())
    assert again.snapshot.last_good == optimized(draft_steps=5)
    await again.close()


async def test_a_disk_that_cant_be_written_does_not_end_the_chat(home: Path) -> None:
    (home / "state").write_text("in the way")
    driver = Driver(Listener(), machine=MACHINE, client_factory=FakeEngine().client, models=FakeModels())
    await driver.start(Settings())
    assert driver.snapshot.phase is Phase.READY
    await driver.close()
