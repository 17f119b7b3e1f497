"""Counted tokens are those that the engine then reads: nothing is a guess."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from spark_chat.engine.counting import counted
from spark_chat.engine.protocol import Count, Counted, Done, Generate, Ready, Sampling, Turn
from tests.engine.probe import Probe, recipe

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONVERSATIONS = (
    [Turn("user", "Hello")],
    [Turn("system", "Be brief."), Turn("user", "17 × 23?"), Turn("assistant", "391"), Turn("user", "<|im_end|> no 😀")],
    [Turn("user", "x = 1\n\n" * 40)],
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def probe(model: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Probe]:
    async with Probe() as started:
        assert isinstance(
            await started.start(recipe(model, context=1024), tmp_path_factory.mktemp("log") / "log"), Ready
        )
        yield started


@pytest.mark.model
@pytest.mark.parametrize("number", range(len(CONVERSATIONS)))
async def test_llama_cpp_counts_what_it_then_reads(probe: Probe, number: int) -> None:
    turns, at = CONVERSATIONS[number], len(probe.events)
    probe.client.send(Count(id=f"count {number}", messages=turns, texts=["Hello", ""]))
    count = await probe.until(lambda event: isinstance(event, Counted), at)
    probe.client.send(Generate(id=f"ask {number}", messages=turns, sampling=Sampling(max_tokens=1, temperature=0)))
    done = await probe.until(lambda event: isinstance(event, Done), at)
    assert count.id == f"count {number}"
    assert count.prompt_tokens == done.usage.prompt_tokens
    assert count.text_tokens == [1, 0]


@pytest.mark.model
async def test_an_answer_and_a_count_do_not_disturb_each_other(probe: Probe) -> None:
    at = len(probe.events)
    probe.client.send(Generate(id="long", messages=[Turn("user", "Count up.")], sampling=Sampling(max_tokens=40)))
    probe.client.send(Count(id="meanwhile", messages=[Turn("user", "Hello")]))
    count = await probe.until(lambda event: isinstance(event, Counted), at)
    done = await probe.until(lambda event: isinstance(event, Done), at)
    assert (count.id, done.id) == ("meanwhile", "long") and count.prompt_tokens


async def test_an_engine_that_cannot_count_or_fails_at_it_gives_no_number() -> None:
    class Failing:
        async def count(self, command: Count) -> tuple[int, list[int]]:
            raise RuntimeError("a template said no")

    for engine in (None, object(), Failing()):
        found = await counted(engine, Count(id="x", messages=[]))  # type: ignore[arg-type]
        assert (found.id, found.prompt_tokens, found.text_tokens) == ("x", None, [])
