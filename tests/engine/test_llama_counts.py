"""Every count of llama.cpp's answers against counts made without our code: its ids over HTTP, its decode calls."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from spark_chat.engine.llama_params import BATCH
from spark_chat.engine.protocol import Abort, Delta, Done, Generate, Ready, Sampling, Statistics, Stats, Turn
from tests.engine.probe import Probe, ask, recipe

pytestmark = pytest.mark.model

ROOT = Path(__file__).resolve().parents[2]
LINE = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi"
REPEAT = f"Repeat this line ten times, nothing else: {LINE}"


@pytest.fixture(autouse=True)
def _home(home: Path) -> None:
    """Logs go to a folder of the test's own."""


def fixed(text: str) -> dict[str, Any]:
    """Arguments that let the model write `text` and nothing else."""
    rule = f"root ::= {json.dumps(text, ensure_ascii=False)}"
    return {"sampling.grammar.grammar": rule, "sampling.grammar.type": "user"}


async def native(model: Path, mtp: bool, asks: list[tuple[str, int]], args: dict[str, Any]) -> list[dict[str, Any]]:
    given = {"model": str(model), "mtp": mtp, "asks": asks, "args": args}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.engine.native_ids", json.dumps(given),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    output, _ = await process.communicate()
    found: list[dict[str, Any]] = json.loads(output)
    return found


class Counting(Probe):
    """A probe that also asks for the engine's own counters around each answer."""

    async def counters(self) -> dict[str, float]:
        position = len(self.events)
        self.client.send(Stats())
        found = await self.until(lambda event: isinstance(event, Statistics), after=position)
        return dict(found.facts)

    async def counted(self, command: Generate) -> tuple[list[Delta], Done, dict[str, float]]:
        before = await self.counters()
        deltas, done = await self.answer(command)
        after = await self.counters()
        assert isinstance(done, Done), done
        return deltas, done, {name: after[name] - before.get(name, 0) for name in after}


def prefill_calls(done: Done) -> int:
    return -(-(done.usage.prompt_tokens - done.usage.cached_tokens) // BATCH)


def check_speculation(done: Done, deltas: list[Delta], counted: dict[str, float]) -> None:
    """Steps are decode calls after the prefill's; ids are what the server counted; bars and counts agree."""
    usage = done.usage
    assert usage.verify_steps is not None and usage.accepted_drafts is not None
    assert usage.verify_steps == counted["n_decode_total"] - prefill_calls(done)
    assert usage.completion_tokens == counted["tokens_predicted_total"]
    assert usage.proposed_drafts == counted["spec_decode_num_draft_tokens_total"]
    assert usage.accepted_histogram is not None and sum(usage.accepted_histogram) == usage.verify_steps
    assert sum(i * steps for i, steps in enumerate(usage.accepted_histogram)) == usage.accepted_drafts
    for delta in deltas:
        assert delta.verify_steps is not None and delta.accepted_drafts is not None
        whole = 1 + delta.verify_steps + delta.accepted_drafts
        assert delta.tokens in (whole, whole - 1)
        assert delta.verify_steps <= usage.verify_steps


@pytest.mark.parametrize("mtp", [False, True])
async def test_ids_equal_those_that_the_server_lists(model: Path, mtp: bool) -> None:
    limits = (1, 2, 21, 22, 29, 120) if mtp else (1, 24)
    asks = [(REPEAT, limit) for limit in limits] + [("Say hi.", 100)]
    truth = await native(model, mtp, asks, {})
    async with Counting() as probe:
        ready = await probe.start(recipe(model, mtp=mtp))
        assert isinstance(ready, Ready)
        assert (ready.proofs["mtp"].active, ready.proofs["mtp"].kind) == ((True, "n-gram") if mtp else (False, ""))
        drafted = 0
        for number, ((text, limit), real) in enumerate(zip(asks, truth, strict=True)):
            deltas, done, counted = await probe.counted(ask(str(number), text, max_tokens=limit))
            assert "".join(delta.text for delta in deltas).lstrip("\n") == real["text"].lstrip("\n")
            assert done.usage.completion_tokens == len(real["ids"])
            assert done.finish == ("length" if len(real["ids"]) == limit else "stop")
            if mtp:
                check_speculation(done, deltas, counted)
                assert done.usage.verify_steps == real["decodes"] - prefill_calls(done)
                drafted += done.usage.accepted_drafts or 0
            else:
                assert done.usage.verify_steps is done.usage.accepted_drafts is done.usage.accepted_histogram is None
                assert counted["n_decode_total"] == len(real["ids"]) - 1 + prefill_calls(done)
        assert drafted > 20 if mtp else drafted == 0


@pytest.mark.parametrize("text", ["The 😀🧪👩🏽‍🚀 and 漢字 of ∮ — ok.", "<b>no</b> x", "🙂"])
async def test_characters_of_several_ids_and_what_is_held_back(model: Path, text: str) -> None:
    truth = await native(model, False, [("x", 200)], fixed(text))
    async with Counting() as probe:
        await probe.start(recipe(model, args=fixed(text)))
        deltas, done, _ = await probe.counted(ask("a", "x", max_tokens=200))
        assert "".join(delta.text for delta in deltas) == text == truth[0]["text"]
        assert done.usage.completion_tokens == len(truth[0]["ids"])


@pytest.mark.parametrize("words", [6, 9, 12])
async def test_an_end_within_or_right_after_drafts(model: Path, words: int) -> None:
    """The same turn over and over: drafts run into the end of the answer and past it."""
    text = "The letters are " + ", ".join(LINE.split()[:words]) + "."
    async with Counting() as probe:
        await probe.start(recipe(model, mtp=True, args=fixed(text)))
        for turns in (0, 3):
            messages = [Turn("user", "Say them."), Turn("assistant", text)] * turns + [Turn("user", "Say them.")]
            command = Generate(id=str(turns), messages=messages, sampling=Sampling(temperature=0, max_tokens=200))
            deltas, done, counted = await probe.counted(command)
            assert done.finish == "stop" and "".join(delta.text for delta in deltas) == text
            check_speculation(done, deltas, counted)
        assert done.usage.accepted_drafts


async def test_the_context_s_end_cuts_a_step(model: Path) -> None:
    """llama.cpp stops at the first id of the step that would reach the end: the rest of it never comes."""
    async with Counting() as probe:
        await probe.start(recipe(model, context=512, mtp=True))
        deltas, done, counted = await probe.counted(ask("a", f"{LINE} " * 14, max_tokens=5000, ignore_eos=True))
        assert done.finish == "context" and done.usage.accepted_drafts
        check_speculation(done, deltas, counted)


async def test_an_abort_counts_what_came(model: Path) -> None:
    async with Counting() as probe:
        await probe.start(recipe(model, mtp=True))
        for number, after in enumerate((1, 12, 25, 40)):
            id = str(number)
            probe.client.send(ask(id, REPEAT, max_tokens=500, ignore_eos=True))
            await probe.until(lambda e, id=id, after=after: isinstance(e, Delta) and e.id == id and e.tokens >= after)
            probe.client.send(Abort(id=id))
            done = await probe.until(lambda e, id=id: isinstance(e, Done) and e.id == id)
            usage = done.usage
            assert done.finish == "abort" and usage.completion_tokens >= after
            whole = 1 + usage.verify_steps + usage.accepted_drafts
            assert usage.completion_tokens in (whole, whole - 1)
            assert sum(usage.accepted_histogram) == usage.verify_steps
