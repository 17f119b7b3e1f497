"""An engine that outlives its chat, is taken over and shared; worker processes with an engine that does as told."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from spark_chat import locations
from spark_chat.engine import lock, visit
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import Abort, Delta, Done, Failed, Left, Progress, Ready, Started
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests.engine.probe import Probe, ask

FAKE = "tests.engine.fake_worker"
LINGER_S = 60


def fake(linger_s: int = LINGER_S, fresh: bool = False, context: int = 0, **args: Any) -> Recipe:
    return Recipe(
        engine="fake", model=ModelRef("m", "m"), context=context, requested={}, args=args, linger_s=linger_s,
        fresh=fresh,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_stays(home: Path) -> Iterator[None]:
    yield
    asyncio.run(visit.stop(force=True))
    assert lock.holder() is None


def running(pid: int | None) -> bool:
    try:
        return pid is not None and bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def left_lingering(**more: Any) -> int:
    """A worker that lingers; its process id."""
    async with Probe(FAKE) as probe:
        assert isinstance(await probe.start(fake(**more)), Ready)
        pid = probe.client.pid
        left = await probe.client.leave()
        assert isinstance(left, Left) and left.lingers_s == more.get("linger_s", LINGER_S) and left.others == 0
        assert not probe.client.alive and pid is not None and running(pid)
        return pid


async def test_the_next_chat_takes_it_over_with_its_counts() -> None:
    async with Probe(FAKE) as probe:
        first = await probe.start(fake())
        assert isinstance(first, Ready) and first.past is None
        await probe.answer(ask("a", "x", max_tokens=3))
        pid = probe.client.pid
        await probe.client.leave()
    async with Probe(FAKE) as probe:
        began = time.monotonic()
        again = await probe.start(fake())
        assert time.monotonic() - began < 1
        assert isinstance(again, Ready) and again.past is not None and probe.client.pid == pid
        assert (again.past.turns, again.past.tokens, again.past.prefill_tokens) == (1, 3, 1)
        assert "start" in again.past.stages and 0 < again.past.age_s < 60
        assert again.cold_turns == 0 and again.facts == first.facts and again.proofs == first.proofs
        assert str(probe.client.log_path) == again.past.log and "logs" in again.past.log
        deltas, done = await probe.answer(ask("a", "y", max_tokens=2))  # an id that the first chat used too
        assert [delta.tokens for delta in deltas] == [1, 2] and isinstance(done, Done)
        await probe.client.stop()
        assert not any(isinstance(event, Failed) for event in probe.events)
        await probe.eventually(lambda: not running(pid))


async def test_without_lingering_it_goes_with_its_chat() -> None:
    async with Probe(FAKE) as probe:
        await probe.start(fake(linger_s=0))
        pid = probe.client.pid
        began = time.monotonic()
        assert await probe.client.leave() is None
        assert not running(pid) and time.monotonic() - began < 2


async def test_it_goes_when_its_time_is_up() -> None:
    pid = await left_lingering(linger_s=1)
    async with Probe(FAKE) as probe:
        await probe.eventually(lambda: not running(pid), seconds=4)
        await probe.eventually(lambda: lock.holder() is None)
    assert not (locations.runtime() / "engine.sock").exists()


async def test_whoever_comes_in_time_stops_the_clock() -> None:
    pid = await left_lingering(linger_s=2)
    async with Probe(FAKE) as probe:
        assert isinstance(await probe.start(fake(linger_s=1)), Ready)
        found = await visit.standing()
        assert found is not None and found.pid == pid and found.lingers_s is None
        assert [person.pid for person in found.people] == [os.getpid()]
        await probe.client.leave()
        found = await visit.standing()
        assert found is not None and found.people == [] and 0 < (found.lingers_s or 0) <= 1


async def test_the_longest_that_was_asked_for_by_those_together_holds() -> None:
    async with Probe(FAKE) as chat, Probe(FAKE) as check:
        await chat.start(fake(linger_s=30))
        await check.start(fake(linger_s=0))
        left = await chat.client.leave()
        assert left is not None and left.others == 1
        left = await check.client.leave()
        assert left is not None and left.lingers_s == 30


async def test_two_windows_share_it_and_each_sees_its_own() -> None:
    async with Probe(FAKE) as one, Probe(FAKE) as two:
        await one.start(fake())
        await two.start(fake())
        assert one.client.pid == two.client.pid
        one.client.send(ask("same", "wait", max_tokens=2))
        await one.until(lambda event: isinstance(event, Delta) and event.tokens == 2)
        two.client.send(ask("same", "mine", max_tokens=2))
        queued = await two.until(lambda event: isinstance(event, Progress) and event.stage == "queue")
        assert "another window" in queued.text and not any(isinstance(event, Started) for event in two.events)
        two.client.send(Abort(id="same"))  # its own, which waits; the other's goes on
        done = await two.until(lambda event: isinstance(event, Done))
        assert (done.id, done.finish) == ("same", "abort")
        two.client.send(ask("again", "mine", max_tokens=2))
        one.client.send(Abort(id="same"))
        assert (await one.until(lambda event: isinstance(event, Done))).finish == "abort"
        done = await two.until(lambda event: isinstance(event, Done) and event.id == "again")
        texts = {event.text for event in two.events if isinstance(event, Delta)}
        assert texts == {"mine"} and {event.id for event in one.events if isinstance(event, Delta)} == {"same"}
        await one.client.stop()  # the other still uses it
        assert isinstance((await two.answer(ask("last", "x")))[1], Done)


async def test_an_answer_whose_chat_is_gone_is_stopped() -> None:
    async with Probe(FAKE) as one, Probe(FAKE) as two:
        await one.start(fake())
        await two.start(fake())
        one.client.send(ask("a", "wait", max_tokens=1))
        await one.until(lambda event: isinstance(event, Delta))
        await one.client.leave()
        _, done = await two.answer(ask("b", "x", max_tokens=1))
        assert isinstance(done, Done) and done.finish == "stop"


async def test_other_settings_end_one_that_lingers() -> None:
    pid = await left_lingering()
    async with Probe(FAKE) as probe:
        ready = await probe.start(fake(context=64))
        assert isinstance(ready, Ready) and ready.past is None and probe.client.pid != pid and not running(pid)


async def test_other_settings_are_refused_while_it_is_used() -> None:
    async with Probe(FAKE) as chat, Probe(FAKE) as other:
        await chat.start(fake())
        held = await other.start(fake(context=64, threads=2))
        assert isinstance(held, Failed) and held.code == "held" and not other.client.alive
        assert f"pid {os.getpid()}" in held.what and "fake with m" in held.what
        assert "engine.context: 0 runs, 64 is wanted" in held.why and "engine.args.threads" in held.why
        assert "spark-chat stop" in held.remedy and other.client.pid is None
        assert isinstance((await chat.answer(ask("a", "x")))[1], Done)


async def test_one_that_stands_aside_runs_beside_another_and_nobody_finds_it() -> None:
    async with Probe(FAKE) as chat, Probe(FAKE) as beside:
        assert isinstance(await chat.start(fake(linger_s=0)), Ready)
        ready = await beside.start(replace(fake(), aside=True))
        assert isinstance(ready, Ready) and ready.past is None and beside.client.pid != chat.client.pid
        holder = lock.holder()
        assert holder is not None and holder.pid == chat.client.pid
        pid = beside.client.pid
        assert await beside.client.leave() is None, "without a door there is nothing to come back to"
        assert not running(pid) and running(chat.client.pid)
        await chat.answer(ask("a", "x", max_tokens=3))


async def test_one_of_its_own_is_refused_while_others_use_it() -> None:
    async with Probe(FAKE) as chat, Probe(FAKE) as bench:
        bench.client = EngineClient(FAKE, alone=True)
        await chat.start(fake())
        held = await bench.start(fake())
        assert isinstance(held, Failed) and held.code == "held" and "of its own" in held.why
        await chat.client.leave()
        bench.events.clear()
        ready = await bench.start(fake())  # one that merely lingers makes room
        assert isinstance(ready, Ready) and ready.past is None


async def test_a_restart_while_others_use_the_very_same_engine_keeps_it() -> None:
    async with Probe(FAKE) as chat, Probe(FAKE) as other:
        await chat.start(fake())
        pid = chat.client.pid
        ready = await other.start(fake(fresh=True))
        assert isinstance(ready, Ready) and ready.past is not None and other.client.pid == pid
        assert isinstance((await other.answer(ask("a", "x")))[1], Done)
        await chat.client.leave()
        await other.client.stop()
        other.events.clear()
        ready = await other.start(fake(fresh=True))
        assert isinstance(ready, Ready) and ready.past is None and not running(pid), "used by nobody else: a new one"


async def test_who_uses_one_that_is_ended_by_force_is_told_by_what() -> None:
    async with Probe(FAKE) as owner, Probe(FAKE) as other:
        for probe in (owner, other):
            await probe.start(fake(load="routine"))
        assert await visit.stop(force=True) is None
        for probe in (owner, other):
            died = await probe.until(lambda event: isinstance(event, Failed))
            assert died.code == "died" and "`spark-chat stop --force`" in died.what and not died.why


async def test_one_that_is_measured_is_shared_with_nobody() -> None:
    async with Probe(FAKE) as bench, Probe(FAKE) as chat:
        bench.client = EngineClient(FAKE, alone=True)
        assert isinstance(await bench.start(fake(linger_s=0)), Ready)
        held = await chat.start(fake(linger_s=0))
        assert isinstance(held, Failed) and held.code == "held" and "is being measured" in held.why
        assert f"pid {os.getpid()}" in held.what and not chat.client.alive
        assert isinstance((await bench.answer(ask("a", "x")))[1], Done), "it goes on undisturbed"
        pid = bench.client.pid
        await bench.client.leave()
        chat.events.clear()
        ready = await chat.start(fake(linger_s=0))
        assert isinstance(ready, Ready) and ready.past is None and not running(pid)


@pytest.mark.parametrize("what", ["protocol", "version"])
async def test_an_engine_of_another_version_is_named_and_makes_room(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    async with Probe(FAKE) as chat, Probe(FAKE) as newer:
        if what == "protocol":
            monkeypatch.setenv("SPARK_CHAT_TEST_PROTOCOL", "1")
        await chat.start(fake())
        if what == "version":
            monkeypatch.setattr("spark_chat.engine.configuration.__version__", "9.9.9")
        monkeypatch.delenv("SPARK_CHAT_TEST_PROTOCOL", raising=False)
        held = await newer.start(fake())
        assert isinstance(held, Failed) and held.code == "held" and f"pid {os.getpid()}" in held.what
        assert f"spark-chat's {'engine: 1 runs, 2' if what == 'protocol' else 'version: '}" in held.why
        pid = chat.client.pid
        await chat.client.leave()
        newer.events.clear()
        ready = await newer.start(fake())
        assert isinstance(ready, Ready) and ready.facts["pid"] != pid and not running(pid)


async def test_one_at_the_door_that_talks_nonsense_is_ended_by_force_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visit, "END_S", 0.5)
    monkeypatch.setattr(visit, "PATIENCE_S", 0.1)
    stranger = subprocess.Popen([sys.executable, "-m", "tests.engine.nonsense"], stdout=subprocess.PIPE)  # noqa: ASYNC220
    assert stranger.stdout is not None and stranger.stdout.readline()
    async with Probe(FAKE) as probe:
        held = await probe.start(fake())
        assert isinstance(held, Failed) and held.code == "held" and f"pid {stranger.pid}" in held.what
        refusal = await visit.stop(force=False)
        assert refusal is not None and "--force" in refusal.remedy and stranger.poll() is None
        assert await visit.stop(force=True) is None
        assert stranger.wait(5) == -signal.SIGKILL
        probe.events.clear()
        assert isinstance(await probe.start(fake()), Ready)


async def test_an_engine_that_is_stuck_is_named_and_ended_by_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visit, "END_S", 0.5)
    monkeypatch.setattr(visit, "ANSWER_S", 0.5)
    monkeypatch.setattr(visit, "PATIENCE_S", 0.1)
    async with Probe(FAKE) as chat, Probe(FAKE) as other:
        await chat.start(fake())
        pid = chat.client.pid or 0
        os.kill(pid, signal.SIGSTOP)
        held = await other.start(fake())
        assert isinstance(held, Failed) and held.code == "held" and f"pid {pid}" in held.what and running(pid)
        assert await visit.stop(force=True) is None and not running(pid)


async def test_two_starts_at_once_give_one_engine() -> None:
    async with Probe(FAKE) as one, Probe(FAKE) as two:
        found = await asyncio.gather(one.start(fake()), two.start(fake()))
        assert all(isinstance(ready, Ready) for ready in found)
        assert one.client.pid == two.client.pid
        assert sum(ready.past is None for ready in found if isinstance(ready, Ready)) >= 1
        assert not any(isinstance(event, Failed) for event in one.events + two.events)


async def test_two_different_starts_at_once_give_one_engine_and_one_refusal() -> None:
    async with Probe(FAKE) as one, Probe(FAKE) as two:
        found = await asyncio.gather(one.start(fake()), two.start(fake(context=9)))
        assert sorted(type(event).__name__ for event in found) == ["Failed", "Ready"]
        (held,) = (event for event in found if isinstance(event, Failed))
        assert held.code == "held" and "engine.context" in held.why


async def test_a_load_that_only_a_second_window_waits_for_any_more_goes_on_there() -> None:
    async with Probe(FAKE) as one, Probe(FAKE) as two:
        await one.client.start(fake(load="block", child=True), one.take)
        child = await one.until(lambda event: isinstance(event, Progress) and event.stage == "child")
        await two.client.start(fake(load="block", child=True), two.take)
        await two.until(lambda event: isinstance(event, Progress))
        assert one.client.pid == two.client.pid
        pid = one.client.pid
        await one.client.stop()
        assert running(pid)
        await two.client.stop()
        await two.eventually(lambda: not running(pid) and not running(int(child.text)))


async def test_a_load_that_nobody_waits_for_ends_though_it_would_linger() -> None:
    async with Probe(FAKE) as probe:
        await probe.client.start(fake(load="block"), probe.take)
        await probe.until(lambda event: isinstance(event, Progress))
        pid = probe.client.pid
        assert await probe.client.leave() is None
        assert not running(pid)


async def test_a_shared_engine_that_dies_is_told_to_all() -> None:
    async with Probe(FAKE) as one, Probe(FAKE) as two:
        await one.start(fake())
        await two.start(fake())
        os.kill(one.client.pid or 0, signal.SIGKILL)
        for probe in (one, two):
            died = await probe.until(lambda event: isinstance(event, Failed))
            assert died.code == "died"


async def test_the_lock_is_held_as_long_as_anything_of_the_engine_lives() -> None:
    async with Probe(FAKE) as probe:
        await probe.client.start(fake(child=True), probe.take)
        child = psutil.Process(int((await probe.until(lambda e: isinstance(e, Progress) and e.stage == "child")).text))
        await probe.until(lambda event: isinstance(event, Ready))
        held = lock.holder()
        assert held is not None and held.pid == probe.client.pid and held.model == "m"
        group = psutil.Process(held.pid)
        for part in (*group.children(), group):  # all but the child: as if it took long to die
            if part.pid != child.pid:
                part.kill()
        assert child.is_running() and lock.holder() is not None
        child.kill()
        await probe.eventually(lambda: lock.holder() is None)


async def test_an_engine_on_its_way_out_is_waited_for() -> None:
    folder = lock.folder()
    held = lock.EngineLock(folder)
    assert held.take()
    held.tell(lock.Holder(pid=1, program="an older chat", model="m", since=time.time()))
    async with Probe(FAKE) as probe:
        await probe.client.start(fake(), probe.take)
        await probe.until(lambda event: isinstance(event, Progress) and "Waiting" in event.text)
        held.close()
        assert isinstance(await probe.until(lambda event: isinstance(event, Ready | Failed)), Ready)


async def test_stop_ends_it_and_asks_before_it_takes_it_from_others() -> None:
    assert await visit.stop(force=False) is None
    pid = await left_lingering()
    assert await visit.stop(force=False) is None and not running(pid) and lock.holder() is None
    async with Probe(FAKE) as probe:
        await probe.start(fake())
        pid = probe.client.pid
        refusal = await visit.stop(force=False)
        assert refusal is not None and f"pid {os.getpid()}" in refusal.what and running(pid)
        assert await visit.stop(force=True) is None and not running(pid)
        died = await probe.until(lambda event: isinstance(event, Failed))
        assert died.code == "died"


async def test_where_there_is_no_runtime_folder_a_chat_works_all_the_same(home: Path) -> None:
    (home / "runtime" / "spark-chat").write_text("a file where the folder should be")
    async with Probe(FAKE) as probe:
        assert isinstance(await probe.start(fake()), Ready)
        assert "no lock" in "".join(probe.client.log_end())
        pid = probe.client.pid
        left = await probe.client.leave()
        assert left is None and not running(pid)
