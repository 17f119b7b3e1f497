"""A check over the scripted engine: what is measured, kept and written, and the exit codes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Piece, Update
from spark_chat.engine.protocol import Failed
from spark_chat.headless import report
from spark_chat.headless.check import Check, Outcome
from spark_chat.headless.narrator import Narrator
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script


class Bench:
    """A check whose engine is scripted. `on_update` sees every update after the check did."""

    def __init__(self, numbers: bool = True, **script: Any) -> None:
        self.engine, self.models = FakeEngine(Script(**script)), FakeModels()
        self.said: list[str] = []
        self.on_update: Callable[[Update], None] = lambda update: None
        self.check = Check(self._driver, Narrator(self.said.append), numbers)

    def _driver(self, listener: Callable[[Update], None]) -> Driver:
        def both(update: Update) -> None:
            listener(update)
            self.on_update(update)

        return Driver(
            both, machine=MACHINE, client_factory=self.engine.client, models=self.models, last_run=FakeLastRun()
        )  # fmt: skip

    async def run(self, runs: int = 1, **settings: Any) -> Outcome:
        sampling = replace(Settings().sampling, **settings)
        return await self.check.run("Hello", runs, Settings(sampling=sampling))


async def test_the_record_has_the_shape_that_others_read() -> None:
    bench = Bench(tokens=13, drafts=2)
    record = report.as_json(await bench.run(runs=3, seed=7))
    assert json.loads(json.dumps(record)) == record
    assert (record["engine"], record["model"]) == ("llama.cpp", "small.gguf")
    assert record["settings"]["sampling.seed"] == 7 and record["settings"]["optimizations.mtp"] is True
    assert set(record["optimizations"]) == {"humming", "fp8_head", "mtp"}
    for entry in record["optimizations"].values():
        assert set(entry) == {"requested", "state", "kind", "pending", "reason", "proof"}
    assert record["optimizations"]["humming"] == {
        "requested": True, "state": "UNAVAILABLE", "kind": None, "pending": None,
            "reason": "needs SGLang on an NVIDIA GPU",
        "proof": {"active": False},
    }  # fmt: skip
    assert record["optimizations"]["mtp"]["proof"]["counters"]["verify_steps"] == 12
    assert [run["cold"] for run in record["runs"]] == [True, False, False]
    for run in record["runs"]:
        assert (run["completion_tokens"], run["verify_steps"], run["accept_length"]) == (13, 4, 3.0)
        assert (run["prompt_tokens"], run["cached_tokens"], run["finish_reason"]) == (20, 0, "stop")
        assert run["ttft_s"] > 0 and run["tpot_s"] * run["decode_tok_s"] == pytest.approx(1)
    assert record["failure"] is None and record["interrupted"] is False


async def test_medians_leave_cold_runs_out() -> None:
    record = report.as_json(await Bench(tokens=20).run(runs=4))
    warm = sorted(run["decode_tok_s"] for run in record["runs"][1:])
    assert record["medians_over"] == "warm runs"
    assert record["medians"]["decode_tok_s"] == warm[1]


async def test_one_cold_run_is_better_than_none() -> None:
    record = report.as_json(await Bench().run())
    assert record["medians_over"] == "all runs"
    assert record["medians"]["ttft_s"] == record["runs"][0]["ttft_s"]


async def test_text_and_thought_are_kept_apart() -> None:
    run = report.as_json(await Bench(reasoning=["hm ", "so "], words=["It ", "is."]).run())["runs"][0]
    assert (run["text"], run["reasoning"], run["reasoning_tokens"]) == ("It is.", "hm so ", 2)
    run = report.as_json(await Bench(words=["hm ", "so ", "It ", "is."], unmarked=2).run())["runs"][0]
    assert (run["text"], run["reasoning"]) == ("It is.", "hm so "), "a thought whose begin was never written"


async def test_numbers_without_a_meaning_are_null() -> None:
    bench = Bench(tokens=1)
    outcome = await bench.check.run(
        "Hello", 1, replace(Settings(), optimizations=replace(Settings().optimizations, mtp=False))
    )
    run = report.as_json(outcome)["runs"][0]
    assert (run["tpot_s"], run["decode_tok_s"], run["accept_length"], run["verify_steps"]) == (None,) * 4


async def test_a_path_is_not_written_into_a_record() -> None:
    settings = replace(Settings(), engine=replace(Settings().engine, model="/home/someone/models/x.gguf"))
    record = report.as_json(await Bench().check.run("Hello", 1, settings))
    assert record["settings"]["engine.model"] == "x.gguf"
    assert "/home" not in json.dumps(record)


async def test_it_narrates_the_start_and_each_run() -> None:
    bench = Bench()
    bench.models.size = 98_000_000
    bench.models.note = "engine.kind = auto chose llama.cpp: no NVIDIA GPU was found."
    outcome = await bench.run(runs=2)
    assert report.exit_code(outcome) == report.FINE
    assert bench.said[0] == "half of it"
    assert [line.partition(" ")[0] for line in bench.said].count("weights") == 1
    assert any("is ready with small.gguf after" in line for line in bench.said)
    assert bench.said[-1].startswith("run 2 of 2: 8 tok, ")
    assert len(bench.said) == len(set(bench.said))


async def test_a_failed_start_ends_in_1_with_the_reason_and_the_log() -> None:
    bench = Bench(start_failure="llama.cpp could not load small.gguf.")
    outcome = await bench.run()
    assert report.exit_code(outcome) == report.ENGINE_FAILED
    said = report.failure_lines(outcome)
    assert said[0] == "llama.cpp could not load small.gguf." and said[-1] == "  the last line of the log"
    record = report.as_json(outcome)
    assert record["runs"] == [] and record["failure"]["what"] == said[0]
    assert record["optimizations"]["mtp"]["state"] == "FAILED"
    assert not bench.engine.alive


async def test_an_engine_that_dies_keeps_what_was_measured() -> None:
    bench = Bench(tokens=10)

    def kill_the_second(update: Update) -> None:
        if isinstance(update, Piece) and update.id == "run-2" and update.numbers.tokens == 4:
            bench.engine.die()

    bench.on_update = kill_the_second
    outcome = await bench.run(runs=5)
    assert report.exit_code(outcome) == report.ENGINE_FAILED
    runs = report.as_json(outcome)["runs"]
    assert [run["completion_tokens"] for run in runs] == [10, 4]
    assert runs[1]["finish_reason"] == "failed"
    assert report.as_json(outcome)["medians"]["completion_tokens"] == 10


async def test_a_prompt_that_does_not_fit_is_bad_input() -> None:
    bench = Bench(
        fails=Failed(code="overflow", what="The prompt is 10 tokens too long.", remedy="Give less.", time=0.0)
    )
    outcome = await bench.run(runs=3)
    assert report.exit_code(outcome) == report.BAD_INPUT
    assert report.failure_lines(outcome)[:2] == ["The prompt is 10 tokens too long.", "Give less."]
    assert len(outcome.runs) == 1


async def test_a_model_that_is_not_there_is_bad_input() -> None:
    bench = Bench()
    bench.models.problem = RecipeProblem("There is no model x.", key="engine.model")
    assert report.exit_code(await bench.run()) == report.BAD_INPUT


async def test_a_fetch_that_fails_is_not() -> None:
    bench = Bench()
    bench.models.size, bench.models.problem = 98_000_000, RecipeProblem("There is no network.", "Use --model PATH.")
    outcome = await bench.run()
    assert report.exit_code(outcome) == report.ENGINE_FAILED
    assert report.failure_lines(outcome)[:2] == ["There is no network.", "Use --model PATH."]


async def test_a_large_download_is_not_begun() -> None:
    bench = Bench()
    bench.models.size = 66_000_000_000
    outcome = await bench.run()
    assert report.exit_code(outcome) == report.ENGINE_FAILED and bench.models.fetched == 0
    assert "66.0 GB" in report.failure_lines(outcome)[0]


async def test_an_interrupt_keeps_what_was_measured() -> None:
    bench = Bench(tokens=100_000)

    def interrupt(update: Update) -> None:
        if isinstance(update, Piece) and update.numbers.tokens == 50:
            bench.check.interrupt()

    bench.on_update = interrupt
    outcome = await bench.run(runs=3, max_tokens=100_000)
    assert report.exit_code(outcome) == report.INTERRUPTED
    record = report.as_json(outcome)
    assert record["interrupted"] is True
    assert [run["finish_reason"] for run in record["runs"]] == ["abort"]
    assert record["runs"][0]["completion_tokens"] >= 50
    assert record["medians"]["ttft_s"] is None, "a stopped run is shown, not counted"
    assert not bench.engine.alive


async def test_an_interrupt_while_it_starts() -> None:
    bench = Bench()
    bench.engine.script.hold_start = asyncio.Event()
    bench.on_update = lambda update: bench.check.interrupt() if bench.engine.alive else None
    outcome = await bench.run()
    assert report.exit_code(outcome) == report.INTERRUPTED
    assert report.as_json(outcome)["runs"] == []
    assert not bench.engine.alive


async def test_the_answer_is_printed_once_and_by_run_where_runs_differ() -> None:
    outcome = await Bench().run(runs=3)
    text = outcome.runs[0].text.rstrip("\n")
    assert text and report.answers(outcome) == [text]
    other = replace(outcome, runs=(*outcome.runs, replace(outcome.runs[0], text="Another.")))
    assert report.answers(other) == [f"runs 1, 2, 3:\n{text}", "run 4:\nAnother."]
    assert report.answers(replace(outcome, runs=())) == []


async def test_nothing_is_said_on_both_streams() -> None:
    bench = Bench(numbers=False)
    outcome = await bench.run(runs=2)
    assert "run 2 of 2: done" in bench.said
    assert not set(bench.said) & set(report.as_lines(outcome))
    assert not any(" tok/s" in line for line in bench.said)


async def test_lines_for_a_person() -> None:
    lines = report.as_lines(await Bench(tokens=13, drafts=2).run(runs=3))
    assert lines[0] == "small.gguf · llama.cpp 1.0 · context 2.0k"
    assert lines[1] == "– Humming   UNAVAILABLE  needs SGLang on an NVIDIA GPU"
    assert lines[3] == "● n-gram    ACTIVE"
    assert lines[4].startswith("run 1: 13 tok, ") and lines[4].endswith(", accept 3.00 (4 steps), cold")
    assert lines[7].startswith("median of 2 warm runs: ") and lines[7].endswith("accept 3.00")


async def test_runs_that_learn_from_each_other_say_so() -> None:
    bench = Bench(tokens=13, drafts=2)
    assert "repeated prompt drafts better" in report.as_json(await bench.run(runs=2))["notes"][-1]
    assert "repeated" not in " ".join(report.as_json(await Bench(drafts=2).run())["notes"])
