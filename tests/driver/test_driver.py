"""The driver over a scripted engine: starts, prompts, deaths, restarts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece
from spark_chat.engine.protocol import Failed, Generate, Load, Proof, Turn
from spark_chat.optimizations.optimization import Badge, State
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.settings.schema import Settings
from spark_chat.settings.state import load_state
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Listener, Script

HELLO = (Turn("user", "Hello"),)


class Rig:
    """A driver with everything around it faked."""

    def __init__(self) -> None:
        self.engine, self.models, self.listener = FakeEngine(), FakeModels(), Listener()
        self.last_run = FakeLastRun()
        self.driver = self.again()

    def again(self) -> Driver:
        """A driver as the next run of the program has it."""
        self.driver = Driver(
            self.listener, machine=MACHINE, client_factory=self.engine.client, models=self.models,
            last_run=self.last_run,
        )  # fmt: skip
        return self.driver

    @property
    def script(self) -> Script:
        return self.engine.script

    @property
    def phase(self) -> Phase:
        return self.driver.snapshot.phase

    def badge(self, name: str) -> Badge:
        return next(badge for badge in self.driver.snapshot.badges if badge.name == name)

    async def until_phase(self, phase: Phase) -> None:
        await self.listener.until(lambda update: isinstance(update, Changed) and update.snapshot.phase is phase)


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    yield rig
    await rig.driver.close()


def optimized(**values: Any) -> Settings:
    settings = Settings()
    return replace(settings, optimizations=replace(settings.optimizations, **values))


def sampled(**values: Any) -> Settings:
    settings = Settings()
    return replace(settings, sampling=replace(settings.sampling, **values))


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


async def test_prompts_are_answered_one_at_a_time_in_their_order(rig: Rig) -> None:
    await rig.driver.start(Settings())
    for id in "abc":
        rig.driver.ask(id, HELLO, Settings())
    assert (rig.driver.snapshot.answering, rig.driver.snapshot.queue) == ("a", 2)
    await rig.listener.answered("c")
    ends = [update.id for update in rig.listener.updates if isinstance(update, Answered)]
    assert ends == ["a", "b", "c"]
    order = [update.id for update in rig.listener.updates if isinstance(update, Piece)]
    assert order == sorted(order)
    assert rig.listener.text("b") == "".join(rig.script.words)
    assert (rig.driver.snapshot.answering, rig.driver.snapshot.queue) == (None, 0)
    assert rig.driver.snapshot.turns == 3


async def test_a_prompt_typed_before_the_engine_is_up_goes_out_when_it_is(rig: Rig) -> None:
    rig.driver.ask("early", HELLO, Settings())
    assert rig.driver.snapshot.queue == 1
    await rig.driver.start(Settings())
    answered = await rig.listener.answered("early")
    assert answered.numbers.tokens == len(rig.script.words)
    assert answered.numbers.waited_s is not None and answered.numbers.waited_s >= 0


async def test_only_the_first_turns_after_a_start_are_cold(rig: Rig) -> None:
    rig.script.cold_turns = 2
    await rig.driver.start(Settings())
    for id in "abc":
        rig.driver.ask(id, HELLO, Settings())
    await rig.listener.answered("c")
    cold = [update.numbers.cold for update in rig.listener.updates if isinstance(update, Answered)]
    assert cold == [True, True, False]


async def test_numbers_count_ids_and_steps(rig: Rig) -> None:
    rig.script.tokens, rig.script.drafts = 13, 2
    await rig.driver.start(Settings())
    rig.driver.ask("a", HELLO, Settings())
    numbers = (await rig.listener.answered("a")).numbers
    assert (numbers.tokens, numbers.verify_steps, numbers.accept_length) == (13, 4, 3.0)
    assert rig.driver.snapshot.context_used == 33
    assert rig.badge("mtp").counters["accept_length"] == 3.0


async def test_an_abort_keeps_what_came(rig: Rig) -> None:
    rig.script.tokens = 100_000
    await rig.driver.start(Settings())
    rig.driver.ask("a", HELLO, sampled(max_tokens=100_000))
    await rig.listener.until(lambda update: isinstance(update, Piece))
    rig.driver.abort()
    answered = await rig.listener.answered("a")
    assert answered.numbers.finish == "abort" and answered.failure is None
    assert 0 < answered.numbers.tokens < 100_000


async def test_a_waiting_prompt_can_be_taken_back(rig: Rig) -> None:
    rig.driver.ask("a", HELLO, Settings())
    rig.driver.ask("b", HELLO, Settings())
    rig.driver.abort("a")
    assert (await rig.listener.answered("a")).numbers.tokens == 0
    rig.driver.abort("nobody")
    await rig.driver.start(Settings())
    await rig.listener.answered("b")
    sent = [command.id for command in rig.engine.commands if isinstance(command, Generate)]
    assert sent == ["b"]


async def test_an_id_in_use_is_refused(rig: Rig) -> None:
    rig.driver.ask("a", HELLO, Settings())
    with pytest.raises(ValueError, match="'a'"):
        rig.driver.ask("a", HELLO, Settings())


async def test_what_the_engine_is_told(rig: Rig) -> None:
    await rig.driver.start(Settings())
    rig.driver.ask("a", HELLO, sampled(temperature=0.0, seed=7, max_tokens=3, system_prompt="Be brief."))
    answered = await rig.listener.answered("a")
    command = next(command for command in rig.engine.commands if isinstance(command, Generate))
    assert command.messages == [Turn("system", "Be brief."), Turn("user", "Hello")]
    assert (command.sampling.temperature, command.sampling.seed, command.sampling.max_tokens) == (0.0, 7, 3)
    assert answered.numbers.finish == "length"
    assert answered.settings_used["sampling.seed"] == 7


async def test_death_in_an_answer(rig: Rig) -> None:
    rig.script.dies_after = 3
    await rig.driver.start(Settings())
    rig.driver.ask("a", HELLO, Settings())
    rig.driver.ask("b", HELLO, Settings())
    answered = await rig.listener.answered("a")
    assert answered.failure is not None and answered.failure.code == "died"
    assert answered.numbers.tokens == 3 and rig.listener.text("a") == "one two three "
    snapshot = rig.driver.snapshot
    assert snapshot.phase is Phase.FAILED and snapshot.log_end[-1] == "the last line of the log"
    assert snapshot.queue == 1, "the prompt that waited is kept"
    assert rig.badge("mtp").state is State.FAILED
    assert rig.badge("humming").state is State.UNAVAILABLE

    rig.script.dies_after = None
    await rig.driver.restart(Settings())
    assert (await rig.listener.answered("b")).failure is None


async def test_death_while_idle(rig: Rig) -> None:
    await rig.driver.start(Settings())
    rig.engine.die()
    assert rig.phase is Phase.FAILED
    await rig.driver.restart(Settings())
    assert rig.phase is Phase.READY and rig.driver.snapshot.failure is None


async def test_an_answer_that_fails_leaves_the_engine_up(rig: Rig) -> None:
    rig.script.fails = Failed(
        code="overflow",
        what="The prompt is 10 tokens too long.",
        facts={"prompt_tokens": 2058, "context": 2048},
        time=0,
    )
    await rig.driver.start(Settings())
    rig.driver.ask("a", HELLO, Settings())
    failure = (await rig.listener.answered("a")).failure
    assert failure is not None and failure.facts["prompt_tokens"] == 2058
    assert rig.phase is Phase.READY
    rig.script.fails = None
    rig.driver.ask("b", HELLO, Settings())
    assert (await rig.listener.answered("b")).failure is None


async def test_a_prompt_too_long_for_a_frame_is_refused_in_words(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    from spark_chat.engine.protocol import ProtocolError

    await rig.driver.start(Settings())
    honest = rig.engine.send

    def send(command: Any) -> None:
        if isinstance(command, Generate) and command.id == "a":
            raise ProtocolError("A message of 99 bytes is over the limit of 9 bytes.")
        honest(command)

    monkeypatch.setattr(rig.driver._prompts, "_send", send)
    rig.driver.ask("a", HELLO, Settings())
    failure = (await rig.listener.answered("a")).failure
    assert failure is not None and "limit" in failure.why and failure.remedy
    rig.driver.ask("b", HELLO, Settings())
    assert (await rig.listener.answered("b")).failure is None


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


async def test_a_restart_stops_the_answer_and_keeps_it(rig: Rig) -> None:
    rig.script.tokens = 100_000
    await rig.driver.start(Settings())
    rig.driver.ask("a", HELLO, sampled(max_tokens=100_000))
    await rig.listener.until(lambda update: isinstance(update, Piece))
    rig.script.tokens = 5
    await rig.driver.restart(optimized(mtp=False))
    answered = await rig.listener.answered("a")
    assert answered.numbers.finish == "abort" and answered.numbers.tokens > 0
    assert rig.badge("mtp").state is State.OFF and rig.badge("mtp").label == "n-gram"
    assert rig.driver.snapshot.turns == 0


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


async def test_close_in_an_answer_ends_it_as_stopped(rig: Rig) -> None:
    rig.script.tokens = 100_000
    await rig.driver.start(Settings())
    rig.driver.ask("a", HELLO, sampled(max_tokens=100_000))
    await rig.listener.until(lambda update: isinstance(update, Piece))
    await rig.driver.close()
    assert (await rig.listener.answered("a")).numbers.finish == "abort"
    await rig.driver.close()


async def test_the_workers_memory_is_looked_at(rig: Rig) -> None:
    await rig.driver.start(Settings())
    await rig.listener.until(lambda update: isinstance(update, Changed) and update.snapshot.statistics is not None)
    assert rig.driver.snapshot.statistics is not None
    await rig.driver.close()
    assert rig.driver.snapshot.statistics is None


async def test_the_load_asks_for_no_optimization_that_cant_run(rig: Rig) -> None:
    await rig.driver.start(Settings())
    load = rig.engine.recipes[-1].load()
    assert isinstance(load, Load)
    assert load.optimizations == {"humming": False, "fp8_head": False, "mtp": True}


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
