"""What the badges say over a scripted engine, and what strict refuses."""

from __future__ import annotations

import asyncio

from spark_chat.driver.snapshot import Changed, Phase
from spark_chat.engine.protocol import Load, Proof
from spark_chat.optimizations.optimization import State
from spark_chat.settings.schema import Settings
from tests.driver.rig import HELLO, Rig, optimized


async def test_a_start_ends_ready_with_judged_badges(rig: Rig) -> None:
    await rig.driver.start(Settings())
    assert rig.phase is Phase.READY
    assert rig.badge("humming").state is State.UNAVAILABLE
    assert rig.badge("humming").reason == "needs SGLang on an NVIDIA GPU"
    assert (rig.badge("mtp").state, rig.badge("mtp").label) == (State.ACTIVE, "n-gram")
    assert rig.badge("fp8_head").proof["head_type"] == "Q8_0"


async def test_badges_are_starting_until_the_engine_is_up(rig: Rig) -> None:
    rig.script.hold_start = asyncio.Event()
    start = asyncio.create_task(rig.driver.start(Settings()))
    await rig.listener.until(lambda update: isinstance(update, Changed) and update.snapshot.progress is not None)
    assert rig.badge("mtp").state is State.STARTING
    assert rig.phase is Phase.STARTING
    rig.script.hold_start.set()
    await start
    assert rig.badge("mtp").state is State.ACTIVE


async def test_off_is_off_also_after_drafts_of_an_earlier_start(rig: Rig) -> None:
    """The counters of the engine before must not be held against the one that comes up."""
    rig.script.tokens, rig.script.drafts = 100, 3
    await rig.driver.start(Settings())
    rig.driver.ask("a", HELLO, Settings())
    await rig.listener.answered("a")
    seen = len(rig.listener.updates)
    await rig.driver.restart(optimized(mtp=False))
    states = {
        badge.state
        for update in rig.listener.updates[seen:]
        if isinstance(update, Changed) and update.snapshot.phase is not Phase.READY
        for badge in update.snapshot.badges
        if badge.name == "mtp" and not badge.requested
    }
    assert states == {State.OFF}


async def test_strict_refuses_what_failed(rig: Rig) -> None:
    rig.script.proofs = {"mtp": Proof(active=False, kind="MTP", reason="The draft has a head of its own.")}
    await rig.driver.start(optimized(strict=True))
    snapshot = rig.driver.snapshot
    assert snapshot.phase is Phase.FAILED and snapshot.failure is not None
    assert snapshot.failure.why == "MTP: The draft has a head of its own." and snapshot.log_end == ()
    assert not rig.engine.alive


async def test_strict_refuses_what_runs_though_it_was_switched_off(rig: Rig) -> None:
    await rig.driver.start(optimized(strict=True, mtp=False))
    assert rig.phase is Phase.READY
    rig.script.proofs = {"mtp": Proof(active=True, kind="MTP")}
    await rig.driver.restart(optimized(strict=True, mtp=False))
    failure = rig.driver.snapshot.failure
    assert rig.phase is Phase.FAILED and failure is not None and "switched off" in failure.why


async def test_strict_tells_what_was_seen_from_what_failed(rig: Rig) -> None:
    rig.script.proofs = {"humming": Proof(active=True), "mtp": Proof(active=True, kind="MTP")}
    await rig.driver.start(optimized(strict=True))
    failure = rig.driver.snapshot.failure
    assert rig.phase is Phase.FAILED and failure is not None and "Humming runs although" in failure.why
    assert rig.badge("mtp").reason == "It was seen at work, but the engine was stopped."


async def test_strict_lets_pass_what_can_not_be_had_here(rig: Rig) -> None:
    """llama.cpp with the defaults: two of the three need SGLang."""
    await rig.driver.start(optimized(strict=True))
    assert rig.phase is Phase.READY
    assert [badge.state for badge in rig.driver.snapshot.badges] == [State.UNAVAILABLE] * 2 + [State.ACTIVE]


async def test_without_strict_a_failed_optimization_is_loud_and_chats(rig: Rig) -> None:
    rig.script.proofs = {"mtp": Proof(active=False, kind="MTP", reason="The draft has a head of its own.")}
    await rig.driver.start(Settings())
    assert rig.phase is Phase.READY
    assert (rig.badge("mtp").state, rig.badge("mtp").reason) == (State.FAILED, "The draft has a head of its own.")


async def test_saved_settings_mark_what_differs(rig: Rig) -> None:
    await rig.driver.start(Settings())
    rig.driver.saved(optimized(mtp=False, draft_steps=5))
    assert rig.badge("mtp").pending == "off at restart"
    assert rig.badge("mtp").state is State.ACTIVE, "state is what runs"
    assert rig.badge("humming").pending is None
    assert rig.driver.snapshot.pending == ("optimizations.mtp", "optimizations.draft_steps")
    await rig.driver.restart(optimized(mtp=False, draft_steps=5))
    assert rig.badge("mtp").pending is None and rig.driver.snapshot.pending == ()


async def test_the_load_asks_for_no_optimization_that_cant_run(rig: Rig) -> None:
    await rig.driver.start(Settings())
    load = rig.engine.recipes[-1].load()
    assert isinstance(load, Load)
    assert load.optimizations == {"humming": False, "fp8_head": False, "mtp": True}
