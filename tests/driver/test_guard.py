"""The memory guard on a made-up Spark, a made-up GPU, and this machine with a real balloon in its memory."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spark_chat.driver.driver import Driver
from spark_chat.driver.guard import Guard, Senses
from spark_chat.driver.shortage import TooLittleMemory
from spark_chat.driver.snapshot import Phase
from spark_chat.machine import Gpu
from spark_chat.memory import meminfo, page_cache
from spark_chat.memory.have import Have, look
from spark_chat.memory.holders import Process
from spark_chat.memory.settling import DEADLINE_S, STEADY_S
from spark_chat.recipe.memory_need import GIB
from spark_chat.recipe.recipe import ModelRef, Recipe
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels
from tests.listener import Listener
from tests.recipe.test_memory_need import LING, WEIGHTS

SPARK = replace(MACHINE, gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True, memory_bytes=121 * GIB)
H200 = replace(MACHINE, gpu=Gpu("NVIDIA H200", (9, 0)))
SHARDS = 24
HUNGRY = [Process(7, "training", 30 * GIB), Process(9, "browser", 3 * GIB), Process(8, "browser", 2 * GIB)]


class World:
    """Memory that is made up. `course`: what is available at each look, GiB; the last one stays. `free`: MemFree."""

    def __init__(self, *course: float, free: float | None = None, gpu: bool = False) -> None:
        self.course, self.free, self.gpu = list(course), free, gpu
        self.now, self.looks = 0.0, 0
        self.said: list[tuple[float | None, str]] = []

    def look(self, *_: object) -> Have:
        self.looks += 1
        self.now += 0.25
        available = self.course.pop(0) if len(self.course) > 1 else self.course[0]
        free = None if self.free is None else int(self.free * GIB)
        return Have(int(available * GIB), 121 * GIB, free, self.gpu)

    def guard(self) -> Guard:
        return Guard(Senses(self.look, lambda gpu: HUNGRY, lambda: self.now, 0.0))

    def say(self, fraction: float | None, text: str) -> None:
        self.said.append((fraction, text))


@pytest.fixture
def ling(tmp_path: Path) -> Recipe:
    """The real model's shape; its weights are files of that size with nothing in them."""
    (tmp_path / "config.json").write_text(json.dumps(LING))
    for shard in range(SHARDS):
        with (tmp_path / f"model-{shard:02d}.safetensors").open("wb") as file:
            file.truncate(WEIGHTS // SHARDS)
    return Recipe(
        "sglang", ModelRef("Ling-3.0-flash-fp4", str(tmp_path)), 0, {"mtp": True, "fp8_head": True},
        args={"max_mamba_cache_size": 64, "chunked_prefill_size": 8192},
    )  # fmt: skip


async def test_a_spark_with_80_gib_refuses_and_says_all_that_helps(ling: Recipe) -> None:
    world = World(80)
    with pytest.raises(TooLittleMemory) as caught:
        await world.guard().admit(ling, SPARK, world.say)
    refused = caught.value
    assert refused.what == "Ling-3.0-flash-fp4 needs 85.0 GiB of memory to start and 80.0 GiB are available."
    assert "weights 60.3 GiB" in refused.why
    assert "training (pid 7, 30.0 GiB), browser (pid 9 and 1 more, 5.0 GiB)" in refused.why
    assert refused.remedy.startswith("Close training, choose a smaller model, or lower engine.context.")
    for way in ("spark-chat stop", "engine.memory_floor_gib"):
        assert way in refused.remedy
    assert world.now <= STEADY_S + 1, "nothing more came, so nothing more is waited for"


async def test_a_full_page_cache_is_no_reason_to_refuse_and_the_models_own_pages_go(ling: Recipe, disk: Path) -> None:
    """CUDA sees MemFree, MemAvailable decides: what the model's own files left there is taken out before the start."""
    shard = Path(ling.model.path) / "model-99.safetensors"
    shard.symlink_to(disk / "shard")
    with (disk / "shard").open("wb") as file:
        file.write(bytes(8 << 20))
        os.fsync(file.fileno())
    assert page_cache.resident(shard) == 8 << 20
    world = World(108, free=41)
    await world.guard().admit(ling, SPARK, world.say)
    assert page_cache.resident(shard) == 0 and world.said == []
    assert shard.read_bytes() == bytes(8 << 20)
    await World(108).guard().admit(ling, H200, world.say)
    assert page_cache.resident(shard) > 0, "where the GPU has its own memory the cache makes the next start faster"


async def test_what_a_stopped_engine_gives_back_slowly_is_waited_for(ling: Recipe) -> None:
    world = World(110, 30, 45, 60, 75, 90, 109.5)
    guard = world.guard()
    await guard.admit(ling, SPARK, world.say)
    await guard.admit(ling, SPARK, world.say)
    assert world.course == [109.5] and len(world.said) == 5
    assert world.said[0][1] == "Waiting for memory: 30.0 GiB of 109.0 GiB are available"
    fractions = [fraction or 0 for fraction, _ in world.said]
    assert fractions == sorted(fractions)


async def test_enough_is_enough_where_others_took_some_meanwhile(ling: Recipe) -> None:
    world = World(110, 95)
    guard = world.guard()
    await guard.admit(ling, SPARK, world.say)
    begun = world.now
    await guard.admit(ling, SPARK, world.say)
    assert world.now - begun <= STEADY_S + 1


async def test_memory_that_never_stops_trickling_in_is_not_waited_for_without_end(ling: Recipe) -> None:
    world = World(*(10 + step * 0.1 for step in range(700)))
    with pytest.raises(TooLittleMemory):
        await world.guard().admit(ling, SPARK, world.say)
    assert DEADLINE_S <= world.now <= DEADLINE_S + 1


async def test_a_gpu_with_its_own_memory_is_judged_by_that(ling: Recipe) -> None:
    world = World(60, gpu=True)
    with pytest.raises(TooLittleMemory, match=r"of GPU memory to start and 60\.0 GiB are available"):
        await world.guard().admit(ling, H200, world.say)
    await World(139, gpu=True).guard().admit(ling, H200, world.say)


async def test_a_person_may_set_the_floor(ling: Recipe) -> None:
    world = World(80)
    await world.guard().admit(replace(ling, memory_floor=70 * GIB), SPARK, world.say)
    await world.guard().admit(replace(ling, memory_floor=0), SPARK, world.say)
    with pytest.raises(TooLittleMemory) as caught:
        await world.guard().admit(replace(ling, memory_floor=90 * GIB), SPARK, world.say)
    assert caught.value.why.startswith("engine.memory_floor_gib says so.")
    assert "engine.context" not in caught.value.remedy


async def test_a_model_that_cant_be_read_is_the_engines_to_judge(ling: Recipe) -> None:
    world = World(0.1)
    await world.guard().admit(replace(ling, model=ModelRef("x", "/nowhere")), SPARK, world.say)


async def test_a_containers_limit_is_said(ling: Recipe) -> None:
    guard = Guard(Senses(lambda *_: Have(GIB, 8 * GIB, limit=2 * GIB), lambda gpu: [], pause=0.0))
    with pytest.raises(TooLittleMemory, match="needs") as caught:
        await guard.admit(replace(ling, memory_floor=4 * GIB), MACHINE, lambda *_: None)
    assert "may hold 2.0 GiB (a container's limit)" in caught.value.why
    assert caught.value.remedy.startswith("Close other programs")


async def test_what_can_never_fit_is_said_at_once(ling: Recipe) -> None:
    world = World(20)
    with pytest.raises(TooLittleMemory) as caught:
        await world.guard().admit(replace(ling, memory_floor=200 * GIB), SPARK, world.say)
    assert caught.value.what.endswith("needs 200.0 GiB of memory to start and there are 121.0 GiB in all.")
    assert world.looks == 1 and "largest" not in caught.value.why
    assert caught.value.remedy.startswith("Choose a smaller model or lower engine.memory_floor_gib.")
    assert caught.value.facts["key"] == "engine.memory_floor_gib"


# ------------------------------------------------------------------ the real thing


@pytest.fixture
def balloon() -> Iterator[list[subprocess.Popen[bytes]]]:
    """The machine's memory is one for all: of several runs of the tests at once, one after another takes it."""
    running: list[subprocess.Popen[bytes]] = []
    with (Path(tempfile.gettempdir()) / f"spark-chat-tests-balloon-{os.getuid()}").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield running
        for process in running:
            process.kill()
            process.communicate()


NAME = f"balloon{os.getpid()}"
"""Programs of one name are counted together; nobody else's has this one."""


def inflate(size: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.memory.balloon", str(size), NAME]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"full\n"
    return process


async def test_a_real_balloon_is_seen_and_named_and_once_it_is_gone_the_start_goes(
    balloon: list[subprocess.Popen[bytes]],
) -> None:
    there = meminfo.read()
    if there is None or there.available < 6 * GIB:
        pytest.skip("6 GiB of memory must be free")
    floor = int((there.available - 1.5 * GIB) / GIB)  # other programs take and give, too
    settings = Settings(engine=replace(Settings().engine, memory_floor_gib=floor))
    engine, listener = FakeEngine(), Listener()
    driver = Driver(
        listener, machine=MACHINE, client_factory=engine.client, models=FakeModels(), last_run=FakeLastRun()
    )
    try:
        balloon.append(inflate(there.available - floor * GIB + 3 * GIB // 2))
        seen = look("llama.cpp", MACHINE)
        assert seen is not None and seen.available < floor * GIB
        await driver.start(settings)
        failure = driver.snapshot.failure
        assert driver.snapshot.phase is Phase.FAILED and failure is not None and failure.code == "memory"
        assert f"{NAME} (pid {balloon[0].pid}," in failure.why
        assert failure.facts["available_bytes"] < failure.facts["needed_bytes"] == floor * GIB
        assert engine.recipes == [] and driver.snapshot.log_end == (), "no process was started"
        balloon[0].communicate()
        await driver.start(settings)
        assert driver.snapshot.phase is Phase.READY and len(engine.recipes) == 1
    finally:
        await driver.close()
