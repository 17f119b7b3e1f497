"""One engine and several chats: shared, refused, measured alone, ended under all of them."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace

import pytest

from spark_chat.engine import lock, visit
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import Abort, Delta, Done, Failed, Progress, Ready, Started
from tests import waiting
from tests.engine.lingering import FAKE, fake, running
from tests.engine.probe import Probe, ask

pytestmark = pytest.mark.usefixtures("nothing_stays")


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
        await waiting.ended(pid)
        await waiting.ended(int(child.text))


async def test_a_shared_engine_that_dies_is_told_to_all() -> None:
    async with Probe(FAKE) as one, Probe(FAKE) as two:
        await one.start(fake())
        await two.start(fake())
        os.kill(one.client.pid or 0, signal.SIGKILL)
        for probe in (one, two):
            died = await probe.until(lambda event: isinstance(event, Failed))
            assert died.code == "died"
