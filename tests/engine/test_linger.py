"""An engine that outlives its chat, is taken over and shared; worker processes with an engine that does as told."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from spark_chat import locations
from spark_chat.engine import lock, visit
from spark_chat.engine.protocol import Done, Failed, Progress, Ready
from tests import waiting
from tests.engine.lingering import FAKE, fake, left_lingering, running
from tests.engine.probe import Probe, ask

pytestmark = pytest.mark.usefixtures("nothing_stays")


async def test_the_next_chat_takes_it_over_with_its_counts() -> None:
    async with Probe(FAKE) as probe:
        first = await probe.start(fake())
        assert isinstance(first, Ready) and first.past is None
        await probe.answer(ask("a", "x", max_tokens=3))
        pid = probe.client.pid
        await probe.client.leave()
    async with Probe(FAKE) as probe:
        again = await probe.start(fake())
        assert isinstance(again, Ready) and again.past is not None and probe.client.pid == pid
        assert (again.past.turns, again.past.tokens, again.past.prefill_tokens) == (1, 3, 1)
        assert "start" in again.past.stages and 0 < again.past.age_s < 60
        assert again.cold_turns == 0 and again.facts == first.facts and again.proofs == first.proofs
        assert str(probe.client.log_path) == again.past.log and "logs" in again.past.log
        deltas, done = await probe.answer(ask("a", "y", max_tokens=2))  # an id that the first chat used too
        assert [delta.tokens for delta in deltas] == [1, 2] and isinstance(done, Done)
        await probe.client.stop()
        assert not any(isinstance(event, Failed) for event in probe.events)
        await waiting.ended(pid)


async def test_without_lingering_it_goes_with_its_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_chat.engine.client.STOP_S", 600)  # by itself: it is not killed
    async with Probe(FAKE) as probe:
        await probe.start(fake(linger_s=0))
        pid = probe.client.pid
        async with asyncio.timeout(waiting.PATIENCE_S):
            assert await probe.client.leave() is None
        assert not running(pid)


async def test_it_goes_when_its_time_is_up() -> None:
    pid = await left_lingering(linger_s=1)
    await waiting.ended(pid)
    await waiting.until(lambda: lock.holder() is None)
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


async def test_other_settings_end_one_that_lingers() -> None:
    pid = await left_lingering()
    async with Probe(FAKE) as probe:
        ready = await probe.start(fake(context=64))
        assert isinstance(ready, Ready) and ready.past is None and probe.client.pid != pid and not running(pid)


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


async def test_a_load_that_nobody_waits_for_ends_though_it_would_linger() -> None:
    async with Probe(FAKE) as probe:
        await probe.client.start(fake(load="block"), probe.take)
        await probe.until(lambda event: isinstance(event, Progress))
        pid = probe.client.pid
        assert await probe.client.leave() is None
        assert not running(pid)


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
        await waiting.until(lambda: lock.holder() is None)


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
