"""The worker's process and its client, with an engine that does as told."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from spark_chat.engine import logs
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import (
    Abort,
    Delta,
    Done,
    Failed,
    Load,
    Progress,
    Ready,
    Started,
    Statistics,
    Stats,
)
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests import waiting
from tests.engine.probe import Probe, ask

FAKE = "tests.engine.fake_worker"


def fake(**args: Any) -> Recipe:
    return Recipe(engine="fake", model=ModelRef("m", "m"), context=0, requested={}, args=args)


@pytest.fixture(autouse=True)
def _home(home: Path) -> None:
    """Logs go to a folder of the test's own."""


async def test_load_answer_and_end() -> None:
    async with Probe(FAKE) as probe:
        ready = await probe.start(fake())
        assert isinstance(ready, Ready)
        assert ready.facts["group"] == ready.facts["pid"] == probe.client.pid != os.getpgrp()
        deltas, done = await probe.answer(ask("a", "x", max_tokens=3))
        assert [delta.tokens for delta in deltas] == [1, 2, 3] and isinstance(done, Done)
        kinds = [type(event) for event in probe.events]
        assert kinds.index(Progress) < kinds.index(Ready) < kinds.index(Started) < kinds.index(Delta)
        probe.client.send(Stats())
        statistics = await probe.until(lambda event: isinstance(event, Statistics))
        assert statistics.memory_bytes > 5_000_000 and statistics.facts == {"ran": True}
    assert not probe.client.alive and not any(isinstance(event, Failed) for event in probe.events)
    await probe.client.stop()


async def test_can_be_started_again() -> None:
    async with Probe(FAKE) as probe:
        first = await probe.start(fake())
        with pytest.raises(RuntimeError):
            await probe.client.start(fake(), probe.take)
        await probe.client.stop()
        probe.events.clear()
        second = await probe.start(fake())
        assert isinstance(first, Ready) and isinstance(second, Ready) and first.facts["pid"] != second.facts["pid"]


async def test_no_module_of_the_folder_it_starts_in_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "psutil.py").write_text("raise SystemExit('wrong psutil')")
    monkeypatch.chdir(tmp_path)
    async with Probe(FAKE) as probe:
        ready = await probe.start(fake())
        assert isinstance(ready, Ready) and ready.facts["cwd"] == str(tmp_path)


async def test_environment_of_the_recipe() -> None:
    async with Probe(FAKE) as probe:
        recipe = Recipe(engine="fake", model=ModelRef("m", "m"), context=0, requested={}, environment={"FAKE": "7"})
        ready = await probe.start(recipe)
        assert isinstance(ready, Ready) and ready.facts["variable"] == "7"


async def test_failures_of_a_load() -> None:
    async with Probe(FAKE) as probe:
        failed = await probe.start(fake(load="fail"))
        assert isinstance(failed, Failed)
        assert (failed.code, failed.what, failed.why, failed.remedy) == (
            "memory",
            "No room.",
            "It is full.",
            "Make room.",
        )
        assert failed.facts == {"free": 1} and failed.id is None
        await probe.gone()
        assert [event for event in probe.events if isinstance(event, Failed)] == [failed]  # told once
        probe.events.clear()
        defect = await probe.start(fake(load="defect"))
        assert isinstance(defect, Failed) and "ZeroDivisionError" in defect.why
        await probe.gone()
        assert any("Traceback" in line for line in probe.client.log_end())
        probe.events.clear()
        unknown = await probe.start(Recipe(engine="none", model=ModelRef("m", "m"), context=0, requested={}))
        assert isinstance(unknown, Failed) and "'none'" in unknown.what and "llama.cpp" in unknown.why


async def test_failures_of_an_answer_leave_the_worker_up() -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake())
        _, overflow = await probe.answer(ask("a", "fail"))
        assert isinstance(overflow, Failed) and overflow.code == "overflow"
        assert overflow.facts == {"prompt_tokens": 9, "context": 8}
        _, defect = await probe.answer(ask("b", "defect"))
        assert isinstance(defect, Failed) and defect.code == "request" and "ZeroDivisionError" in defect.why
        _, done = await probe.answer(ask("c", "fine"))
        assert isinstance(done, Done)


async def test_one_answer_at_a_time_and_abort() -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake())
        probe.client.send(ask("a", "wait", max_tokens=1))
        await probe.until(lambda event: isinstance(event, Delta))
        _, refused = await probe.answer(ask("b", "x"))
        assert isinstance(refused, Failed) and (refused.id, refused.code) == ("b", "request")
        probe.client.send(Abort(id="nobody"))
        probe.client.send(Abort(id="a"))
        done = await probe.until(lambda event: isinstance(event, Done))
        assert (done.id, done.finish) == ("a", "abort")
        _, done = await probe.answer(ask("c", "x"))
        assert isinstance(done, Done) and done.finish == "stop"


async def test_an_abort_right_behind_its_prompt() -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake())
        probe.client.send(ask("a", "wait", max_tokens=1))
        probe.client.send(Abort(id="a"))
        done = await probe.until(lambda event: isinstance(event, Done), seconds=10)
        assert (done.id, done.finish) == ("a", "abort")


async def test_what_it_can_not_read_is_named_and_it_goes_on() -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake())
        for frame, says in (
            (b'{"kind":"dance"}\n', "dance"),
            (b"not json\n", "malformed"),
            (b'{"kind":"generate","id":3}\n', "id"),
        ):
            position = len(probe.events)
            probe.raw(frame)
            failed = await probe.until(lambda event: isinstance(event, Failed), after=position)
            assert (failed.code, failed.id) == ("protocol", None) and says in failed.what
        position = len(probe.events)
        probe.client.send(Load(engine="fake", model="m", context=0, optimizations={}))
        again = await probe.until(lambda event: isinstance(event, Failed), after=position)
        assert again.code == "protocol" and "load" in again.what
        _, done = await probe.answer(ask("a", "x"))
        assert isinstance(done, Done)


async def test_output_of_native_code_lands_in_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake(load="print"))
        assert {"from C on stdout", "from C on stderr", "from Python"} <= set(probe.client.log_end())
        assert probe.client.log_path is not None
        assert logs.tail(probe.client.log_path) == probe.client.log_end()
    out, err = capfd.readouterr()
    assert out == "" and err == ""


async def test_a_log_that_grows_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake(load="chatter"))  # 20 MB
        path = probe.client.log_path
        assert path is not None
        await waiting.until(lambda: path.stat().st_size <= logs.MAX_BYTES)


async def test_a_disk_that_takes_no_log(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    async with Probe(FAKE) as probe:
        assert isinstance(await probe.start(fake(load="print")), Ready)
        assert probe.client.log_path is None and "from Python" in probe.client.log_end()


async def test_a_worker_that_is_killed_is_told() -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake())
        probe.client.send(ask("a", "wait", max_tokens=1))
        await probe.until(lambda event: isinstance(event, Delta))
        os.kill(probe.client.pid or 0, 9)
        died = await probe.until(lambda event: isinstance(event, Failed))
        assert (died.code, died.id) == ("died", None) and "SIGKILL" in died.why
        assert died.facts == {"exit_code": -9}
        assert not probe.client.alive
        probe.client.send(Stats())  # is no error


async def test_a_line_of_every_day_is_not_given_as_the_reason() -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake(load="routine"))
        os.kill(probe.client.pid or 0, 9)
        died = await probe.until(lambda event: isinstance(event, Failed))
        assert "SIGKILL" in died.why and "Its log says" not in died.why and "idle" in "".join(probe.client.log_end())


async def test_a_worker_that_crashes_says_why() -> None:
    async with Probe(FAKE) as probe:
        died = await probe.start(fake(load="crash"))
        assert isinstance(died, Failed) and died.code == "died"
        assert "SIGABRT" in died.why and died.why.endswith(".") and "GGML_ASSERT" in "".join(probe.client.log_end())


@pytest.mark.parametrize("args", [{"load": "block"}, {"load": "hold"}, {"close": "hang"}])
async def test_stop_at_any_time_leaves_nothing(args: dict[str, str]) -> None:
    async with Probe(FAKE) as probe:
        await probe.client.start(fake(child=True, **args), probe.take)
        child = await probe.until(lambda event: isinstance(event, Progress) and event.stage == "child")
        await probe.until(lambda event: isinstance(event, Progress) and event.stage == "start")
        pids = [probe.client.pid or 0, int(child.text)]
        async with asyncio.timeout(waiting.PATIENCE_S):
            await probe.client.stop()
        assert not running(pids[0])
        await waiting.ended(pids[1])  # killed too, at the kernel's own time
        assert not any(isinstance(event, Failed) for event in probe.events)


async def test_stop_right_after_start() -> None:
    async with Probe(FAKE) as probe:
        await probe.client.start(fake(), probe.take)
        pid = probe.client.pid or 0
        await probe.client.stop()
        assert not running(pid)


async def test_a_reaction_that_fails_does_not_stop_the_reading() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    client, ready = EngineClient(FAKE), asyncio.Event()

    def take(event: object) -> None:
        if isinstance(event, Progress):
            raise ValueError("no")
        if isinstance(event, Ready):
            ready.set()

    await client.start(fake(), take)
    await asyncio.wait_for(ready.wait(), 20)
    await client.stop()
    assert isinstance(told[0]["exception"], ValueError)


def running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
