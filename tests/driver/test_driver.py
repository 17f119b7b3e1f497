"""The driver over a scripted engine: starts, prompts, deaths, restarts."""

from __future__ import annotations

from typing import Any

import pytest

from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece
from spark_chat.engine.protocol import Failed, Generate, Turn
from spark_chat.optimizations.optimization import State
from spark_chat.settings.schema import Settings
from tests.driver.rig import HELLO, Rig, optimized, sampled


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
