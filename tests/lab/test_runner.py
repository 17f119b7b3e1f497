"""Which engine is started when, what it is asked, and what is kept when something goes wrong."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from spark_chat.engine.protocol import Failed, Generate
from spark_chat.lab import summary
from spark_chat.lab.item import Item, Workload
from spark_chat.lab.measure import WARM_TOKENS
from spark_chat.lab.plan import Plan
from spark_chat.lab.results import Answer, AnyFound, Order, Start, Visit
from spark_chat.lab.variation import Configuration
from spark_chat.lab.workload import workload
from spark_chat.settings.schema import Settings
from tests.fakes import Script
from tests.lab.scripted import Lab, answer, items, plan


def of_kind(found: list[AnyFound], kind: type[Any]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


async def test_cheap_restarts_are_interleaved_back_and_forth() -> None:
    lab = Lab(plan(rounds=3))
    found = await lab.run()
    assert of_kind(found, Order)[0].order == "interleaved"
    measured = [asked for asked in lab.watcher.asked if asked[3] == "measured"]
    visits = list(dict.fromkeys((configuration, round) for configuration, _, round, _ in measured))
    assert visits == [(0, 1), (1, 1), (1, 2), (0, 2), (0, 3), (1, 3)]
    assert len(measured) == 2 * 2 * 3 and len(lab.engine.recipes) == 6
    assert not lab.engine.alive


async def test_dear_restarts_are_ordered_and_the_first_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_chat.lab.plan.CHEAP_START_S", -1.0)
    lab = Lab(plan(rounds=2))
    found = await lab.run()
    assert of_kind(found, Order)[0].order == "ordered"
    roles = list(dict.fromkeys((asked[0], asked[3]) for asked in lab.watcher.asked if asked[3] != "warm-up"))
    assert roles == [(0, "measured"), (1, "measured"), (0, "repeat")]
    assert len(lab.engine.recipes) == 3, "the first stay goes on without another start"


async def test_one_configuration_starts_once() -> None:
    lab = Lab(plan("mtp=on", rounds=4))
    found = await lab.run()
    assert len(lab.engine.recipes) == 1 and of_kind(found, Order)[0].order == "single"
    assert [asked[3] for asked in lab.watcher.asked] == ["warm-up"] + ["measured"] * 8


async def test_warm_ups_are_cold_and_nothing_else_is() -> None:
    lab = Lab(plan("mtp=on"), {True: Script(tokens=9, cold_turns=3)})
    answers = of_kind(await lab.run(), Answer)
    assert [item.cold for item in answers] == [item.role == "warm-up" for item in answers]
    assert sum(item.cold for item in answers) == 3


async def test_all_configurations_are_asked_the_same() -> None:
    lab = Lab(plan(fresh=True, sampled=True))
    await lab.run()
    asked = [
        (command.messages[-1].content, command.sampling.seed)
        for command in lab.engine.commands
        if isinstance(command, Generate) and command.sampling.max_tokens != WARM_TOKENS
    ]
    everything = set(asked)
    assert len(everything) == 4 and len(asked) == 8, "two prompts in two rounds, and each in both configurations"
    assert len({seed for _, seed in everything}) == 4


async def test_a_fresh_prefix_is_new_each_time_and_of_constant_length() -> None:
    lab = Lab(plan("mtp=on", names=["a"], rounds=5, fresh=True))
    await lab.run()
    prompts = [command.messages[-1].content for command in lab.engine.commands if isinstance(command, Generate)]
    assert len(set(prompts)) == 6 and {len(text.split()) for text in prompts} == {len(prompts[0].split())}
    assert all(text.endswith("Say a.") for text in prompts)


async def test_a_start_that_fails_is_a_row_and_the_others_go_on() -> None:
    lab = Lab(plan(), {False: Script(start_failure="It does not fit."), True: Script(tokens=9)})
    found = await lab.run()
    failed = [start for start in of_kind(found, Start) if start.failure]
    assert [start.configuration for start in failed] == [0] and "It does not fit." in failed[0].failure
    assert {asked[0] for asked in lab.watcher.asked} == {1}
    assert sum(asked[3] == "measured" for asked in lab.watcher.asked) == 4


async def test_an_engine_that_dies_keeps_what_was_measured() -> None:
    lab = Lab(plan(names=["a", "b", "c"], order="ordered", rounds=1))

    def kill(found: AnyFound) -> None:
        if isinstance(found, Answer) and (found.configuration, found.item, found.role) == (0, "b", "measured"):
            lab.engine.die()

    lab.watcher.on_found = kill
    found = await lab.run()
    whole = [(item.configuration, item.item) for item in of_kind(found, Answer) if item.counts]
    assert whole == [(0, "a"), (0, "b"), (1, "a"), (1, "b"), (1, "c")]
    assert [start.configuration for start in of_kind(found, Start) if start.failure] == [0]


async def test_an_answer_that_fails_leaves_the_others() -> None:
    fails = Failed(code="overflow", what="Too long.", remedy="Give less.", time=0.0)
    lab = Lab(plan(rounds=1, order="ordered"), {False: Script(fails=fails), True: Script(tokens=9)})
    found = await lab.run()
    failed = [item for item in of_kind(found, Answer) if item.failure]
    assert {item.failure for item in failed} == {"Too long. Give less."}
    assert sum(item.counts for item in of_kind(found, Answer)) == 2


async def test_an_interrupt_keeps_what_was_measured() -> None:
    lab = Lab(plan(rounds=5))

    def stop(found: AnyFound) -> None:
        if isinstance(found, Answer) and found.counts and found.item == "b":
            lab.runner.interrupt()

    lab.watcher.on_found = stop
    found = await lab.run()
    assert sum(item.counts for item in of_kind(found, Answer)) == 2 and lab.runner.interrupted
    assert not lab.engine.alive


async def test_what_was_measured_is_not_asked_again() -> None:
    whole = plan(rounds=2, order="ordered")
    first = Lab(whole)
    found = await first.run()
    asked = [item for item in found if isinstance(item, Answer) and item.counts]
    half = [item for item in found if not isinstance(item, Answer)] + list(asked[:5])
    second = Lab(whole, known=half)
    after = await second.run()
    again = [(item.configuration, item.item, item.round) for item in second.watcher.all
             if isinstance(item, Answer) and item.role == "measured"]  # fmt: skip
    assert again == [(1, "b", 1), (1, "a", 2), (1, "b", 2)]
    assert [recipe.requested["mtp"] for recipe in second.engine.recipes] == [True, False], "and the repeat"
    assert sum(isinstance(item, Answer) and item.counts for item in after) == 8


async def test_nothing_starts_where_all_is_known() -> None:
    whole = plan(rounds=1, order="interleaved")
    known: list[AnyFound] = [answer(place, name) for place in (0, 1) for name in ("a", "b")]
    lab = Lab(whole, known=[Order(order="interleaved"), *known])
    await lab.run()
    assert lab.engine.recipes == [] and lab.watcher.all == []


async def test_the_estimate_comes_down_to_nothing() -> None:
    lab = Lab(plan(rounds=3))
    await lab.run()
    standings = [standing for standing, found in zip(lab.watcher.standings, lab.watcher.all, strict=True)
                 if isinstance(found, Answer) and found.role == "measured"]  # fmt: skip
    assert [standing.done for standing in standings] == list(range(1, 13))
    assert standings[-1].left_s == 0 and all(standing.left_s is not None for standing in standings)
    assert lab.watcher.pieces > 50


async def test_visits_tell_what_the_badges_said() -> None:
    visits = of_kind(await Lab(plan(rounds=1)).run(), Visit)
    assert [visit.optimizations["mtp"]["state"] for visit in visits] == ["OFF", "ACTIVE"]
    assert visits[1].optimizations["mtp"]["proof"]["counters"]["verify_steps"] > 0


async def test_a_synthetic_prompt_has_exactly_its_length() -> None:
    workload = Workload("synthetic", (Item("s", tokens=300),), {"temperature": 0.0, "max_tokens": 5}, ignore_eos=True)
    lab = Lab(plan("mtp=on", workload=workload))
    lab.engine.counts_words = True
    answers = of_kind(await lab.run(), Answer)
    assert {item.prompt_tokens for item in answers} == {300} and len(answers) == 3
    texts = [command.messages[-1].content for command in lab.engine.commands if isinstance(command, Generate)]
    assert len(set(texts)) == len(texts), "never the same text twice"


@pytest.mark.parametrize("given, remedy", [(None, "Give --set engine.context=34816"), (40_000, "takes no more")])
async def test_a_length_beyond_the_context_is_told_once_before_anything_is_asked(
    given: int | None, remedy: str
) -> None:
    settings = replace(Settings(), engine=replace(Settings().engine, context=given))
    wanted = Plan((Configuration("as set", settings),), workload(("synthetic-32k-2k",)), 3)
    lab = Lab(wanted)
    lab.engine.takes = 2_048
    answers = of_kind(await lab.run(), Answer)
    assert answers and not any(isinstance(command, Generate) for command in lab.engine.commands)
    said = [item.failure or "" for item in answers if item.role == "measured"]
    assert len(said) == 1, "it is asked for no further rounds"
    assert "need a context of 34,816, and the engine has" in said[0] and remedy in said[0]
    assert summary.shares(lab.watcher.all, 1)[0].failure == said[0], "the table's row has the reason"


async def test_a_made_prompt_that_comes_out_at_another_length_does_not_count() -> None:
    workload = Workload("synthetic", (Item("s", tokens=300),), {"temperature": 0.0, "max_tokens": 5}, ignore_eos=True)
    lab = Lab(plan("mtp=on", workload=workload))
    lab.engine.counts_words, lab.engine.adds = True, 1
    measured = [item for item in of_kind(await lab.run(), Answer) if item.role == "measured"]
    assert [item.failure for item in measured] == ["The engine read 301 tokens where 300 were to be read."]


async def test_a_warm_up_leaves_nothing_of_the_prompts_in_the_cache() -> None:
    lab = Lab(plan("mtp=on", rounds=1))
    await lab.run()
    asked = [command.messages[-1].content for command in lab.engine.commands if isinstance(command, Generate)]
    first, *measured = asked
    assert measured == ["Say a.", "Say b."]
    assert first.startswith("Skip ") and first.endswith("Say a.")


async def test_an_interrupt_between_two_engines_makes_no_start_of_the_one_before() -> None:
    lab = Lab(plan(names=["a"], rounds=1))

    def found(item: AnyFound) -> None:
        if isinstance(item, Answer) and item.role == "measured":  # it comes once the next start has begun
            asyncio.get_running_loop().call_soon(lab.runner.interrupt)

    lab.watcher.on_found = found
    everything = await asyncio.wait_for(lab.run(), 10)
    assert [start.configuration for start in of_kind(everything, Start)] == [0]
    assert {item.configuration for item in of_kind(everything, Answer)} == {0}


async def test_an_interrupt_ends_a_count_that_no_engine_answers() -> None:
    workload = Workload("synthetic", (Item("s", tokens=300),), {"temperature": 0.0, "max_tokens": 5})
    lab = Lab(plan("mtp=on", workload=workload, rounds=1))
    lab.engine.silent, lab.engine.on_count = True, lab.runner.interrupt
    await asyncio.wait_for(lab.run(), 10)
    assert lab.runner.interrupted and not any(isinstance(command, Generate) for command in lab.engine.commands)


async def test_a_length_that_cannot_be_had_is_told() -> None:
    workload = Workload("synthetic", (Item("s", tokens=300),), {"temperature": 0.0, "max_tokens": 5})
    lab = Lab(plan("mtp=on", workload=workload, rounds=1))
    answers = of_kind(await lab.run(), Answer)
    assert all("exactly 300 tokens" in (item.failure or "") for item in answers)


def test_items_have_a_digest_of_their_text() -> None:
    one, other = items("a", "b")
    assert one.digest == items("a")[0].digest != other.digest
