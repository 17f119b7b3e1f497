"""What comes before a start: memory first, kernels next, memory again; and what is noted of it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_chat.driver import starts
from spark_chat.driver.driver import Driver
from spark_chat.driver.gate import Gate
from spark_chat.driver.guard import Guard, Senses
from spark_chat.driver.last_run import StateFile
from spark_chat.driver.snapshot import Phase
from spark_chat.machine import Gpu
from spark_chat.memory.have import Have
from spark_chat.meters.session import Stage
from spark_chat.prepare.book import Book
from spark_chat.prepare.prepare import alone
from spark_chat.recipe.memory_need import GIB
from spark_chat.recipe.recipe import ModelRef, Recipe
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script
from tests.listener import Listener

H200 = replace(MACHINE, gpu=Gpu("NVIDIA H200", (9, 0)))


class Told(list[tuple[str, str]]):
    def __call__(self, stage: str, fraction: float | None, text: str) -> None:
        self.append((stage, text))

    @property
    def stages(self) -> list[str]:
        return list(dict.fromkeys(stage for stage, _ in self))


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text(json.dumps({"num_hidden_layers": 8, "hidden_size": 64}))
    (tmp_path / "m" / "a.safetensors").write_bytes(bytes(1000))
    return Recipe("sglang", ModelRef("M", str(tmp_path / "m")), 0, {"mtp": True})


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0)


def plenty() -> Guard:
    return Guard(Senses(lambda *_: Have(500 * GIB, 500 * GIB), lambda gpu: [], pause=0.0))


async def test_kernels_are_built_before_the_weights_are_read_and_once(home: Path, recipe: Recipe) -> None:
    engine, told = FakeEngine(Script(stages=("start", "graphs"))), Told()
    gate = Gate(engine.client, FakeLastRun(), plenty())
    await gate.open(recipe, H200, told)
    assert [one.args["load_format"] for one in engine.recipes] == ["dummy"] and not engine.alive
    assert told.stages == ["kernels"]
    assert told[0][1].startswith("Kernels first, once a version (some minutes the first time), with no model loaded: ")
    assert gate.cold
    await gate.open(recipe, H200, told)
    assert len(engine.recipes) == 1 and gate.stages == () and not gate.cold


async def test_what_building_took_before_is_the_estimate(home: Path, recipe: Recipe) -> None:
    engine, told = FakeEngine(), Told()
    gate, book = Gate(engine.client, FakeLastRun(), plenty()), Book.here()
    await gate.open(recipe, H200, Told())
    (key,) = book.done()
    Book(book.folder.with_name("an-older-version")).note(key, 250)
    book.forget()
    await gate.open(recipe, H200, told)
    assert "once a version (4 min 10 s last time)" in told[0][1]


async def test_nothing_is_built_without_a_gpu_or_for_llama_cpp(home: Path, recipe: Recipe) -> None:
    engine = FakeEngine()
    gate = Gate(engine.client, FakeLastRun(), plenty())
    await gate.open(recipe, MACHINE, Told())
    await gate.open(replace(recipe, engine="llama.cpp"), H200, Told())
    assert engine.recipes == []


async def test_what_cant_be_built_is_left_to_the_start(home: Path, recipe: Recipe) -> None:
    engine, told = FakeEngine(Script(start_failure="no compiler")), Told()
    await Gate(engine.client, FakeLastRun(), plenty()).open(recipe, H200, told)
    assert "could not be built beforehand: no compiler" in told[-1][1]


async def test_another_one_that_builds_is_waited_for(
    home: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_chat.driver.gate.BUSY_S", 0.0)
    engine, told = FakeEngine(), Told()
    gate = Gate(engine.client, FakeLastRun(), plenty())
    with alone(Book.here().folder):
        waiting = asyncio.create_task(gate.open(recipe, H200, told))
        await until(lambda: bool(told))
        assert engine.recipes == [] and "preparing right now" in told[0][1]
    await waiting
    assert len(engine.recipes) == 1


async def test_cancelled_while_kernels_are_built_it_leaves_no_engine(home: Path, recipe: Recipe) -> None:
    engine = FakeEngine(Script(hold_start=asyncio.Event()))
    opening = asyncio.create_task(Gate(engine.client, FakeLastRun(), plenty()).open(recipe, H200, Told()))
    await until(lambda: engine.alive)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert not engine.alive


async def test_closed_while_memory_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(bytes(4096))
    amounts = iter(range(1, 10**9))
    guard = Guard(Senses(lambda *_: Have(next(amounts) * GIB, 10**9 * GIB), lambda gpu: [], pause=0.0))
    engine, listener = FakeEngine(), Listener()
    driver = Driver(listener, MACHINE, engine.client, FakeModels(), FakeLastRun(), guard)
    settings = Settings(engine=replace(Settings().engine, model=str(file), memory_floor_gib=4096))
    starting = asyncio.create_task(driver.start(settings))
    await listener.until(lambda update: bool((told := driver.snapshot.progress) and told.stage == "memory"))
    await driver.close()
    await starting
    assert driver.snapshot.phase is Phase.STOPPED and engine.recipes == []


# ------------------------------------------------------------------ what is noted


def start(recipe: Recipe, cold: bool, **stages: float) -> starts.Start:
    return starts.of(recipe, [Stage(name, seconds) for name, seconds in stages.items()], cold)


def test_the_last_cold_and_the_last_warm_start_are_kept(tmp_path: Path, recipe: Recipe) -> None:
    path = tmp_path / "starts.json"
    for entry in (
        start(recipe, True, weights=9, graphs=99), start(recipe, False, weights=5), start(recipe, False, weights=3),
        start(replace(recipe, context=1), False, weights=77),
    ):  # fmt: skip
        starts.note(entry, path)
    assert starts.last(recipe, True, path) == (Stage("weights", 9), Stage("graphs", 99))
    assert starts.last(recipe, False, path) == (Stage("weights", 3),)
    assert starts.last(replace(recipe, context=1), True, path) == (Stage("weights", 77),), "better than none"
    assert starts.last(replace(recipe, context=2), True, path) == ()
    assert [one.seconds for one in starts.read(path)] == [77, 3, 108]


@pytest.mark.parametrize(
    "content", ["", "{}", "[1, {}]", '[{"key": 1}]', "[" * 5000, '[{"key":"a","engine":"","model":"","cold":0,'
     '"when":0,"stages":[["x", 1e999]]}]'],
)  # fmt: skip
def test_a_broken_book_is_an_empty_one(tmp_path: Path, recipe: Recipe, content: str) -> None:
    path = tmp_path / "starts.json"
    path.write_text(content)
    assert starts.read(path) == ()
    starts.note(start(recipe, False, weights=1), path)
    assert len(starts.read(path)) == 1


async def test_the_next_start_tells_how_long_it_takes(home: Path, tmp_path: Path) -> None:
    engine, listener = FakeEngine(), Listener()
    driver = Driver(listener, MACHINE, engine.client, FakeModels(), StateFile(), plenty())
    await driver.start(Settings())
    assert driver.snapshot.phase is Phase.READY and driver.snapshot.left_s is None
    noted = starts.read()
    assert len(noted) == 1 and {stage.name for stage in noted[0].stages} >= {"weights", "warm-up"}
    slow: Any = [Stage("weights", 100.0), Stage("warm-up", 7.0)]
    recipe = driver.snapshot.recipe
    assert recipe is not None
    starts.note(starts.of(recipe, slow, noted[0].cold))
    engine.script.hold_start = asyncio.Event()
    restart = asyncio.create_task(driver.start(Settings()))
    await listener.until(lambda update: bool((left := driver.snapshot.left_s) and left > 5))
    engine.script.hold_start.set()
    await restart
    await driver.close()
    assert driver.snapshot.left_s is None
