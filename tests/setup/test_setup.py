"""The steps of setting up: each can be stopped at any moment and goes on from there, and leaves no process."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spark_chat.driver import setup as setups
from spark_chat.driver.fitting import Suited, fit
from spark_chat.driver.setup import Setup, SetupProblem, Standing, Step
from spark_chat.models import find
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings import noted, set_up, toured
from spark_chat.settings.schema import Settings
from spark_chat.settings.state import State, load_state, save_state
from tests.fakes import MACHINE
from tests.processes import of_home
from tests.pull.hub import Hub, reached
from tests.pull.test_pull import NAME, contents
from tests.setup.made_up import SPARK, Steps, spark


class Watch:
    """A setup's listener. `until` waits for a standing, or for whatever else calls `look`."""

    def __init__(self) -> None:
        self.seen: list[Standing] = []
        self._changed = asyncio.Event()

    def __call__(self, standing: Standing) -> None:
        self.seen.append(standing)
        self.look()

    def look(self) -> None:
        self._changed.set()

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(30):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


async def test_fetch_then_build_then_ready_each_stopped_once() -> None:
    steps, watch = Steps(), Watch()
    setup = Setup(spark(), watch, fetch=steps.fetch, build=steps.build)
    assert setup.standing.step is Step.OFFERED and setup.standing.fit.offers
    setup.go_on(Settings())
    setup.go_on(Settings())
    await watch.until(lambda: setup.standing.fraction == 0.47)
    assert setup.standing.runs and steps.fetches == 1, "twice is once"
    await setup.stop()
    assert (setup.standing.step, setup.standing.text) == (Step.STOPPED, "31.2 of 66.0 GB") and steps.cancelled == 1
    steps.fetch_goes.set()
    setup.go_on(Settings())
    await watch.until(lambda: setup.standing.fraction == 0.25)
    await setup.stop()
    assert setup.standing.step is Step.STOPPED and steps.builds == 1
    steps.build_goes.set()
    setup.go_on(Settings())
    await watch.until(lambda: setup.standing.step is Step.READY)
    assert steps.builds == 2 and watch.seen[-1].step is Step.READY
    await setup.stop()
    assert setup.standing.step is Step.READY


async def test_what_goes_wrong_is_said_and_can_be_tried_again() -> None:
    steps, watch = Steps(), Watch()
    steps.fetch_goes.set()
    steps.build_goes.set()
    steps.fails = SetupProblem("There is no network.", "Start again once there is.")
    setup = Setup(spark(), watch, fetch=steps.fetch, build=steps.build)
    setup.go_on(Settings())
    await watch.until(lambda: setup.standing.step is Step.FAILED)
    assert (setup.standing.text, setup.standing.remedy) == ("There is no network.", "Start again once there is.")
    steps.fails, steps.build_fails = None, SetupProblem("no compiler.", "Install gcc.")
    setup.go_on(Settings())
    await watch.until(lambda: setup.standing.step is Step.READY)
    assert "Not all kernels could be built: no compiler." in setup.standing.text, "the start builds them, or says why"


async def test_what_was_begun_before_stands_as_stopped() -> None:
    setup = Setup(spark(fetched=33 * 10**9), lambda standing: None, begun=True)
    assert setup.standing.step is Step.STOPPED and setup.standing.fraction == 0.5
    assert "33.0 GB of it are here" in setup.standing.text


# ------------------------------------------------------------------ the real fetch and the real build


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with reached(home, monkeypatch, NAME, contents()) as hub:
        yield hub


async def test_a_fetch_that_is_stopped_at_random_moments_goes_on(hub: Hub, home: Path) -> None:
    hub.pace = threading.Semaphore(0)  # a piece of the weights at a time
    model, dice, steps = Suited(NAME, sum(map(len, hub.files.values())), 1), random.Random(5), Steps()
    steps.build_goes.set()
    watch, loop = Watch(), asyncio.get_running_loop()
    hub.on_sent = lambda: loop.call_soon_threadsafe(watch.look)
    setup = Setup(spark(), watch, build=steps.build)
    setup.standing = Standing(fit(spark(), model), Step.OFFERED)
    for _ in range(4):
        setup.go_on(Settings())
        before, pieces = hub.sent, dice.randrange(3)
        hub.pace.release(pieces)
        await watch.until(lambda before=before, pieces=pieces: hub.sent > before or not pieces)  # type: ignore[misc]
        await setup.stop()
        assert setup.standing.step is Step.STOPPED and not of_home(home), "no process is left"
    hub.pace = None
    setup.go_on(Settings())
    await watch.until(lambda: setup.standing.step in (Step.READY, Step.FAILED))
    assert setup.standing.step is Step.READY, setup.standing
    assert setups.here(NAME) and find.find(NAME).path
    before = hub.sent
    await setups.fetched(model, lambda done, text: None)
    assert hub.sent == before, "what is here is not fetched again"


async def test_a_hub_that_is_gone_is_said(hub: Hub) -> None:
    hub.down = True
    with pytest.raises(SetupProblem) as raised:
        await setups.fetched(Suited(NAME, 1, 1), lambda done, text: None)
    assert raised.value.what


async def test_kernels_are_built_beside_the_chat_s_engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    async def prepare(recipe, machine, book, available, report, client):  # type: ignore[no-untyped-def]
        seen["recipe"] = recipe
        report(0.5, "Capturing")
        return 1

    monkeypatch.setattr("spark_chat.prepare.prepare.prepare", prepare)
    monkeypatch.setattr("spark_chat.recipe.choose.installed", lambda package: True)
    folder = home / "Ling"
    folder.mkdir()
    (folder / "config.json").write_text('{"num_hidden_layers": 4, "hidden_size": 64}')
    (folder / "a.safetensors").write_bytes(bytes(100))
    told: list[str] = []
    await setups.built(ModelRef("Ling", str(folder)), Settings(), SPARK, lambda done, text: told.append(text))
    recipe = seen["recipe"]
    assert recipe.engine == "sglang" and recipe.aside and recipe.load().aside
    assert told == ["Capturing (some minutes the first time)"]


def test_what_is_known_of_this_machine_without_a_gpu(home: Path) -> None:
    facts = setups.look(MACHINE, Settings())
    assert facts.memory > 0 and facts.disk > 0 and not facts.path and not fit(facts).offers


# ------------------------------------------------------------------ what is noted


def test_it_is_noted_beside_the_tour_and_the_last_run(home: Path) -> None:
    assert set_up.standing() == ""
    set_up.note(set_up.BEGUN)
    toured.note()
    save_state(State.of(Settings(), "llama.cpp", "small", {}))
    assert set_up.standing() == set_up.BEGUN and toured.shown() and load_state().model == "small"
    set_up.note(set_up.DONE)
    assert set_up.standing() == set_up.DONE and load_state().model == "small"


@pytest.mark.parametrize("content", ["setup = ", "setup = 7", 'setup = "what"'])
def test_a_broken_note_asks_nobody_twice(home: Path, content: str) -> None:
    from spark_chat import locations

    path = locations.state_file()
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert set_up.standing() in ("", set_up.DONE)
    save_state(State.of(Settings(), "llama.cpp", "small", {}))
    assert load_state().model == "small"
    assert noted.get("setup") in (None, "what")
