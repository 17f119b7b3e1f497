"""An engine that outlives its command, with the real engine: taken over within a second, named, and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from spark_chat.engine import lock, visit
from tests.cli.process import Finished, run, signalled_at, spawn

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.model]


@pytest.fixture(autouse=True)
def nothing_stays(home: Path) -> Iterator[None]:
    yield
    asyncio.run(visit.stop(force=True))
    assert lock.holder() is None


def checked(model: Path, *more: str) -> Finished:
    return run("check", "--json", "--max-tokens", "5", "--model", str(model), "--set", "sampling.temperature=0", *more)


def lingering(model: Path, *more: str) -> dict[str, Any]:
    found = checked(model, "--set", "engine.linger_s=60", *more)
    assert found.code == 0, found.err
    return found.record


def test_a_second_check_finds_the_firsts_engine_in_under_a_second(model: Path) -> None:
    first = lingering(model)
    assert first["taken_over"] is None and first["ready_s"] > 0
    process = spawn("check", "--json", "--max-tokens", "5", "--model", str(model), "--set", "sampling.temperature=0")
    began = psutil.Process(process.pid).create_time()
    assert process.stderr is not None
    ready = next(line for line in iter(process.stderr.readline, b"") if b"is ready" in line)
    took = time.time() - began
    again = Finished(process)
    assert b"took over an engine that had been ready for" in ready
    assert again.record["taken_over"]["answers"] == 1 and again.record["ready_s"] < min(1, first["ready_s"])
    assert took < 1 or took < 2 * first["ready_s"]  # a machine that others keep busy is slower at everything
    assert [one["text"] for one in again.record["runs"]] == [one["text"] for one in first["runs"]]
    assert again.record["runs"][0]["cold"] is False
    assert again.record["runs"][0]["completion_tokens"] == 5  # its own counts, not the engine's
    assert again.record["optimizations"].keys() == first["optimizations"].keys()


def test_doctor_names_it_and_stop_ends_it(model: Path) -> None:
    assert "No engine runs." in run("stop").out
    lingering(model)
    doctor = json.loads(run("doctor", "--json").out)
    (line,) = (finding for finding in doctor["findings"] if finding["name"] == "engine")
    assert line["level"] == "fine" and model.name in line["text"] and "spark-chat stop" in line["text"]
    stopped = run("stop")
    assert stopped.code == 0 and "was ended" in stopped.out and "MiB are free again" in stopped.out
    assert lock.holder() is None and "No engine runs." in run("stop").out


async def alone() -> visit.Standing:
    """The engine, once it has seen that nobody is with it: the kernel tells it of a killed one a moment later."""
    async with asyncio.timeout(10):
        while True:
            found = await visit.standing()
            if found is not None and not found.people:
                return found


def test_a_check_that_is_killed_leaves_it_to_the_next_and_other_settings_make_it_go(model: Path) -> None:
    command = ("check", "--runs", "500", "--max-tokens", "20", "--model", str(model), "--set", "engine.linger_s=60")
    signalled_at(spawn(*command), "run 1 of 500", signal.SIGKILL)
    first = asyncio.run(alone())
    again = lingering(model)
    assert again["taken_over"] is not None
    other = lingering(model, "--set", "engine.context=512")
    assert other["taken_over"] is None and other["context"] == 512
    second = asyncio.run(visit.standing())
    assert second is not None and second.pid != first.pid
    with contextlib.suppress(psutil.NoSuchProcess):  # its lock is free; its last breath may still be under way
        psutil.Process(first.pid).wait(10)


def test_a_check_and_a_comparison_while_another_holds_the_engine(model: Path) -> None:
    process = spawn("check", "--runs", "2000", "--max-tokens", "200", "--model", str(model))
    assert process.stderr is not None
    next(line for line in iter(process.stderr.readline, b"") if b"is ready" in line)
    try:
        between = checked(model)
        assert between.code == 0, between.err
        assert between.record["taken_over"] is not None and between.record["runs"][0]["completion_tokens"] == 5
        assert "another window" in between.err
        held = checked(model, "--set", "engine.context=512")
        assert held.code == 1 and held.record["failure"]["code"] == "held"
        assert f"spark-chat check (pid {process.pid}" in held.err and "engine.context: 0 runs, 512" in held.err
        bench = run("bench", "--vary", "mtp=off,on", "--rounds", "1", "--max-tokens", "4", "--no-save", "--model",
                    str(model))  # fmt: skip
        assert bench.code == 1 and f"pid {process.pid}" in bench.err and "of its own" in bench.err
        refused = run("stop")
        assert refused.code == 1 and f"pid {process.pid}" in refused.err and "--force" in refused.err
        forced = run("stop", "--force")
        assert forced.code == 0 and "was ended" in forced.out
    finally:
        ended = Finished(process)
    assert ended.code == 1 and "ended" in ended.err and "Traceback" not in ended.err
