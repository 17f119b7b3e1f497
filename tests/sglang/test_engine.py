"""The real SGLang in the real worker, on the CPU with a model of 2 MB: answers, aborts, proofs, and its death."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from spark_chat.engine import lock
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import (
    Abort,
    AnyEvent,
    Count,
    Counted,
    Delta,
    Done,
    Failed,
    Generate,
    Progress,
    Proof,
    Ready,
    Sampling,
    Turn,
)
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests import waiting
from tests.gpu.oracle_text import ASSISTANT, THINK
from tests.sglang import cpu

START_S, ANSWER_S = 300, 60


class Chat:
    """A worker and its events."""

    def __init__(self) -> None:
        self.client, self.events, self.seen = EngineClient(), asyncio.Queue[AnyEvent](), list[AnyEvent]()
        self.recipe: Recipe | None = None

    async def until(self, *kinds: type, seconds: float = ANSWER_S) -> AnyEvent:
        async with asyncio.timeout(seconds):
            while True:
                event = await self.events.get()
                self.seen.append(event)
                if isinstance(event, kinds):
                    return event

    async def answer(self, id: str, thinking: bool = False, words: str = "hello", tokens: int = 12) -> AnyEvent:
        self.seen.clear()
        sampling = Sampling(temperature=0, max_tokens=tokens)
        self.client.send(Generate(id=id, messages=[Turn("user", words)], sampling=sampling, thinking=thinking))
        return await self.until(Done, Failed)

    def said(self, part: str) -> str:
        return "".join(getattr(event, part) for event in self.seen if isinstance(event, Delta)).strip()


@pytest.fixture
async def chat(checkpoint: Path, sglang_environment: dict[str, str], home: Path) -> AsyncIterator[Chat]:
    found = Chat()
    environment = {name: value for name, value in sglang_environment.items() if name != "PYTHONPATH"}
    recipe = Recipe(
        engine="sglang", model=ModelRef("llama", str(checkpoint)), context=512,
        requested={"humming": True, "fp8_head": True, "mtp": False}, args=dict(cpu.ARGS), environment=environment,
        linger_s=60,
    )  # fmt: skip
    found.recipe = recipe
    await found.client.start(recipe, found.events.put_nowait, home / "engine.log")
    try:
        yield found
    finally:
        await found.client.stop()


async def test_a_chat_on_the_real_engine(chat: Chat) -> None:
    """One start for all of it: a start takes half a minute."""
    from tests.sglang import small_llama

    ready = await chat.until(Ready, Failed, seconds=START_S)
    assert isinstance(ready, Ready), ready
    assert {event.stage for event in chat.seen if isinstance(event, Progress)} >= {"start", "weights", "warm-up"}
    assert ready.proofs["fp8_head"].active and ready.proofs["fp8_head"].facts["dtype"] == "float8_e4m3fn"
    assert ready.facts["memory_fraction"] == cpu.ARGS["mem_fraction_static"], "what the lab's records compare"
    held = ready.facts["memory"]
    assert held["cache_tokens"] >= 512 and held["cache_bytes"] >= held["cache_tokens"]
    assert ready.proofs["humming"].unavailable and ready.proofs["mtp"].active is False

    done = await chat.answer("plain")
    assert isinstance(done, Done) and done.finish == "length" and done.usage.completion_tokens == 12
    assert chat.said("text") == small_llama.text(ASSISTANT, 12) and done.usage.verify_steps is None
    turns = [Turn("user", "hello")]
    chat.client.send(Count(id="count", messages=turns, texts=["hello", ""], thinking=False))
    count = await chat.until(Counted)
    assert isinstance(count, Counted) and count.prompt_tokens == done.usage.prompt_tokens
    assert count.text_tokens == [1, 0]
    assert [event.tokens for event in chat.seen if isinstance(event, Delta)][-1] == 12

    done = await chat.answer("thought", thinking=True)
    assert isinstance(done, Done) and done.usage.reasoning_tokens == 12 and chat.said("text") == ""
    assert chat.said("reasoning") == small_llama.text(THINK, 12)

    chat.seen.clear()
    sampling = Sampling(temperature=0, max_tokens=400)
    chat.client.send(Generate(id="long", messages=[Turn("user", "hello")], sampling=sampling, thinking=False))
    await chat.until(Delta)
    chat.client.send(Abort(id="long"))
    done = await chat.until(Done)
    assert isinstance(done, Done) and done.finish == "abort" and done.usage.completion_tokens < 400

    failed = await chat.answer("full", words="hello " * 600)
    assert isinstance(failed, Failed) and failed.code == "overflow" and failed.facts["prompt_tokens"] > 600

    done = await chat.answer("tight", words="hello " * 480, tokens=400)
    assert isinstance(done, Done) and done.finish == "context"

    first = await left_and_taken_over(chat)
    assert first == ready.proofs

    assert chat.client.pid is not None
    children = psutil.Process(chat.client.pid).children(recursive=True)
    next(child for child in children if "scheduler" in " ".join(child.cmdline())).kill()
    died = await chat.until(Failed)
    assert isinstance(died, Failed) and died.code == "died" and died.id is None
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []
    await waiting.until(lambda: lock.holder() is None)


async def left_and_taken_over(chat: Chat) -> dict[str, Proof]:
    """The chat goes and another one comes: the same engine answers. Its proofs."""
    from tests.sglang import small_llama

    assert chat.recipe is not None
    pid, held = chat.client.pid, lock.holder()
    assert held is not None and held.pid == pid
    left = await chat.client.leave()
    assert left is not None and left.lingers_s == 60
    chat.client = EngineClient()
    await chat.client.start(chat.recipe, chat.events.put_nowait)
    ready = await chat.until(Ready, Failed, seconds=10)  # a load takes half a minute
    assert isinstance(ready, Ready) and ready.past is not None and ready.past.turns == 4 and chat.client.pid == pid
    done = await chat.answer("plain")
    assert isinstance(done, Done) and chat.said("text") == small_llama.text(ASSISTANT, 12)
    return ready.proofs
