"""llama.cpp with the real small model: answers, their ends, and what can't be answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from spark_chat.engine.llama_params import cores
from spark_chat.engine.protocol import (
    Abort,
    Delta,
    Done,
    Failed,
    Generate,
    Ready,
    Sampling,
    Started,
    Statistics,
    Stats,
    Turn,
)
from tests.engine.probe import Probe, ask, recipe

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]

CONTEXT = 512


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def probe(model: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Probe]:
    """One loaded engine for all tests here: no speculation, a small context."""
    async with Probe() as started:
        log = tmp_path_factory.mktemp("log") / "worker.log"
        assert isinstance(await started.start(recipe(model, context=CONTEXT), log), Ready)
        yield started


def ready_of(probe: Probe) -> Ready:
    return next(event for event in probe.events if isinstance(event, Ready))


async def test_ready_tells_what_is_known(probe: Probe, model: Path) -> None:
    ready = ready_of(probe)
    assert (ready.engine, ready.model, ready.context, ready.cold_turns) == ("llama.cpp", model.stem, CONTEXT, 1)
    facts = ready.facts
    assert (facts["architecture"], facts["quantization"], facts["parameters"]) == ("llama", "Q4_1", 134_515_008)
    assert (facts["output_layer"], facts["output_tied"], facts["mtp_layers"]) == ("Q8_0", True, 0)
    assert facts["file_bytes"] == 98_362_432 and facts["context_trained"] == 8192
    assert facts["threads"] == max(1, cores() - 1)


async def test_nothing_is_active_that_was_not_seen(probe: Probe) -> None:
    proofs = ready_of(probe).proofs
    assert {name: proof.active for name, proof in proofs.items()} == {"humming": False, "fp8_head": False, "mtp": False}
    assert all(proof.reason for proof in proofs.values())
    assert "Q8_0" in proofs["fp8_head"].reason and "token embedding" in proofs["fp8_head"].reason
    assert proofs["mtp"].facts["implementations"] == []


async def test_an_answer(probe: Probe) -> None:
    position = len(probe.events)
    deltas, done = await probe.answer(ask("hi", "Say hi.", max_tokens=12))
    assert isinstance(done, Done)
    started = next(event for event in probe.events[position:] if isinstance(event, Started))
    assert started.time <= deltas[0].time <= deltas[-1].time <= done.time <= time.monotonic()
    read = [event.reading for event in probe.events[position:] if isinstance(event, Delta) and not event.tokens]
    assert read and None not in read, "the reading of the prompt is told before the first token"
    assert deltas[0].tokens == 1 and [d.tokens for d in deltas] == sorted({d.tokens for d in deltas})
    assert done.usage.completion_tokens in (deltas[-1].tokens, deltas[-1].tokens + 1)
    assert (done.usage.verify_steps, done.usage.accepted_drafts, deltas[-1].verify_steps) == (None, None, None)
    assert done.usage.prefill_tokens == 1 and done.timings.prefill_s is not None


async def test_the_same_seed_gives_the_same_text_and_another_does_not(probe: Probe) -> None:
    async def text(id: str, seed: int) -> str:
        deltas, _ = await probe.answer(ask(id, "Write a line of a poem.", 24, temperature=1.5, top_k=0, seed=seed))
        return "".join(delta.text for delta in deltas)

    first, again, other = await text("s1", 1), await text("s2", 1), await text("s3", 2)
    assert first == again != other


async def test_the_prefix_is_reused_in_the_next_turn(probe: Probe) -> None:
    first = [Turn("user", "Name a colour, and say why it is the best of all colours there are.")]
    _, before = await probe.answer(Generate(id="t1", messages=first, sampling=Sampling(temperature=0, max_tokens=8)))
    more = [*first, Turn("assistant", "Blue."), Turn("user", "And a tree?")]
    _, after = await probe.answer(Generate(id="t2", messages=more, sampling=Sampling(temperature=0, max_tokens=8)))
    assert after.usage.prompt_tokens > after.usage.cached_tokens >= before.usage.prompt_tokens - 8


async def test_length_stop_and_context_are_told_apart(probe: Probe) -> None:
    _, short = await probe.answer(ask("l1", "Count.", max_tokens=5))
    assert (short.finish, short.usage.completion_tokens) == ("length", 5)
    _, stopped = await probe.answer(ask("l2", "Say hi.", max_tokens=200))
    assert stopped.finish == "stop"
    _, full = await probe.answer(ask("l3", "word " * 440, max_tokens=5000, ignore_eos=True))
    assert full.finish == "context"
    assert full.usage.prompt_tokens + full.usage.completion_tokens == pytest.approx(CONTEXT, abs=2)


async def test_an_abort_keeps_what_came_and_ends_the_work(probe: Probe) -> None:
    probe.client.send(ask("ab", "Count to a thousand.", max_tokens=5000, ignore_eos=True))
    await probe.until(lambda event: isinstance(event, Delta) and event.id == "ab" and event.tokens >= 5)
    probe.client.send(Abort(id="ab"))
    asked = time.monotonic()
    done = await probe.until(lambda event: isinstance(event, Done) and event.id == "ab")
    deltas = [event for event in probe.events if isinstance(event, Delta) and event.id == "ab"]
    assert done.finish == "abort" and done.usage.completion_tokens >= deltas[-1].tokens >= 5
    assert done.time - asked < 1.0
    _, next_one = await probe.answer(ask("ab2", "Say hi.", max_tokens=4))
    assert isinstance(next_one, Done)


async def test_an_abort_right_behind_its_prompt(probe: Probe) -> None:
    probe.client.send(ask("now", "Count to a thousand.", max_tokens=5000, ignore_eos=True))
    probe.client.send(Abort(id="now"))
    done = await probe.until(lambda event: isinstance(event, Done) and event.id == "now", seconds=10)
    assert done.finish == "abort" and done.usage.completion_tokens <= 1


async def test_an_abort_during_the_prefill(probe: Probe) -> None:
    probe.client.send(ask("pre", "word " * 450, max_tokens=5))
    await probe.until(lambda event: isinstance(event, Delta) and event.id == "pre")
    probe.client.send(Abort(id="pre"))
    done = await probe.until(lambda event: isinstance(event, Done) and event.id == "pre")
    assert done.finish == "abort" and done.usage.completion_tokens == 0, "it was read to its end"
    assert done.usage.prompt_tokens > 450


async def test_an_abort_while_megabytes_are_tokenised(probe: Probe) -> None:
    """Blanks say nothing of how many tokens there are at least: they are tokenised, for seconds."""
    probe.client.send(ask("blanks", "x" + " " * 10_000_000, max_tokens=5))
    await probe.until(lambda event: isinstance(event, Started) and event.id == "blanks")
    probe.client.send(Abort(id="blanks"))
    asked = time.monotonic()
    done = await probe.until(lambda event: isinstance(event, Done | Failed) and event.id == "blanks")
    assert isinstance(done, Done) and done.finish == "abort" and done.usage.completion_tokens == 0
    assert done.time - asked < 8.0, "left alone after half a second; read to its end it takes 17 s"
    _, after = await probe.answer(ask("after", "Say hi.", max_tokens=4))
    assert isinstance(after, Done) and after.finish == "length" and after.usage.completion_tokens == 4


async def test_a_prompt_that_can_not_fit_is_refused_untokenised(probe: Probe) -> None:
    """10 MB take llama.cpp 6 s to tokenise; what is sent first is the refusal."""
    text = "hello world " * 900_000
    _, failed = await probe.answer(ask("huge", text))
    assert isinstance(failed, Failed) and failed.code == "overflow" and failed.facts["at_least"] is True
    assert not any(isinstance(event, Started) and event.id == "huge" for event in probe.events), "it was asked"
    least = failed.facts["prompt_tokens"]
    assert CONTEXT < least < 1_800_000 and f"at least {least:,} tokens" in failed.what and "at least" in failed.why


async def test_too_long_a_conversation_says_by_how_much(probe: Probe) -> None:
    _, failed = await probe.answer(ask("over", "word " * 700))
    assert isinstance(failed, Failed) and failed.code == "overflow"
    assert failed.facts["context"] == CONTEXT and failed.facts["prompt_tokens"] > 700
    assert f"{failed.facts['prompt_tokens'] - CONTEXT + 1:,} too many" in failed.why
    _, done = await probe.answer(ask("over2", "Say hi.", max_tokens=4))
    assert isinstance(done, Done)


async def test_what_llama_cpp_does_not_take(probe: Probe) -> None:
    _, empty = await probe.answer(Generate(id="e", messages=[], sampling=Sampling()))
    assert isinstance(empty, Failed) and empty.code == "request" and "no prompt" in empty.what
    _, odd = await probe.answer(ask("odd", "a\ud800b\x00\x1b[2J\u202e", max_tokens=3))
    assert isinstance(odd, Done)


async def test_statistics_have_the_engine_s_own_counts(probe: Probe) -> None:
    position = len(probe.events)
    probe.client.send(Stats())
    found = await probe.until(lambda event: hasattr(event, "memory_bytes"), after=position)
    assert found.facts["tokens_predicted_total"] > 0 and found.memory_bytes > 80_000_000


async def test_nobody_without_the_key_can_read_over_its_port(probe: Probe) -> None:
    listening = [
        line.laddr.port for line in psutil.Process(probe.client.pid).net_connections("tcp") if line.status == "LISTEN"
    ]
    for port in listening:
        for path in ("/slots", "/props", "/metrics", "/v1/chat/completions"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET {path} HTTP/1.0\r\nOrigin: http://elsewhere.example\r\n\r\n".encode())
            answer = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            assert answer.split()[1] in (b"401", b"403", b"404", b"501"), answer


async def test_asking_for_statistics_leaves_an_idle_server_alone(probe: Probe) -> None:
    async def ask_for_statistics(times: int) -> Statistics:
        for _ in range(times):
            position = len(probe.events)
            probe.client.send(Stats())
            found = await probe.until(lambda event: isinstance(event, Statistics), after=position)
        return found

    def woken() -> int:
        assert probe.client.log_path is not None
        return probe.client.log_path.read_text().count("all slots are idle")

    await probe.answer(ask("w1", "Say hi.", max_tokens=4))
    before, woke = await ask_for_statistics(2), woken()
    assert await ask_for_statistics(10) and woken() <= woke + 2  # the log may lag by those two
    await probe.answer(ask("w2", "Say hi.", max_tokens=4))
    after = await ask_for_statistics(1)
    assert after.facts["tokens_predicted_total"] == before.facts["tokens_predicted_total"] + 4
