"""llama.cpp with a model's own MTP block: a GGUF whose drafts are known by construction, every length, every stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_chat.engine.protocol import Done, Ready
from tests.engine import oracle_gguf
from tests.engine.probe import ask, recipe
from tests.engine.test_llama_counts import Counting

pytestmark = pytest.mark.model


@pytest.fixture(autouse=True)
def _home(home: Path) -> None:
    """Logs go to a folder of the test's own."""


def constructed(count: int, misses: str, drafted: int = 3) -> list[tuple[int, int]]:
    """(drafts accepted, ids given) of each verify step of an answer of `count` ids, from the construction alone.

    llama.cpp drafts no more than fit before the last id, so a step never runs past `count`.
    """
    letters, steps, done = oracle_gguf.text(count + 8), [], 1
    while done < count:
        room, right, last = min(drafted, count - done - 1), 0, letters[done - 1]
        while right < room and last not in misses:
            last = letters[done + right]
            right += 1
        steps.append((right, right + 1))
        done += right + 1
    return steps


def bars(accepted: list[int]) -> list[int]:
    return [accepted.count(size) for size in range(max(accepted, default=0) + 1)]


async def started(probe: Counting, path: Path, **more: Any) -> Ready:
    ready = await probe.start(recipe(path, **{"mtp": True, **more}))
    assert isinstance(ready, Ready), ready
    return ready


@pytest.mark.parametrize("misses", ["", "ce", "bdfhjlnprtvxz", oracle_gguf.LETTERS])
async def test_every_length_is_counted_exactly(tmp_path: Path, misses: str) -> None:
    async with Counting() as probe:
        ready = await started(probe, oracle_gguf.write(tmp_path / "oracle.gguf", misses))
        proof = ready.proofs["mtp"]
        assert (proof.active, proof.kind) == (True, "MTP") and proof.facts["implementations"] == ["draft-mtp"]
        for count in [*range(1, 24), 61, 200]:
            steps = constructed(count, misses)
            deltas, done, counted = await probe.counted(ask(str(count), "go", max_tokens=count))
            usage = done.usage
            assert "".join(delta.text for delta in deltas) == oracle_gguf.text(count)
            assert (done.finish, usage.completion_tokens) == ("length", count)
            assert usage.verify_steps == len(steps)
            assert usage.accepted_drafts == sum(accepted for accepted, _ in steps)
            assert usage.accepted_histogram == bars([accepted for accepted, _ in steps])
            assert usage.proposed_drafts == counted["spec_decode_num_draft_tokens_total"]
            if count > 1:  # the first prefill is done in two calls
                assert counted["n_decode_total"] == len(steps) + 1


async def test_accept_length_is_four_where_the_draft_is_always_right(tmp_path: Path) -> None:
    async with Counting() as probe:
        await started(probe, oracle_gguf.write(tmp_path / "oracle.gguf"))
        for blocks in (1, 5, 25):
            _, done, _ = await probe.counted(ask(str(blocks), "go", max_tokens=1 + 4 * blocks))
            assert done.usage.verify_steps is not None
            assert (done.usage.completion_tokens - done.usage.prefill_tokens) / done.usage.verify_steps == 4.0


@pytest.mark.parametrize("misses", ["", "ce"])
@pytest.mark.parametrize("last", "abcdefgh")
async def test_an_end_anywhere_in_a_step(tmp_path: Path, misses: str, last: str) -> None:
    """llama.cpp ends a step at the end-of-answer id and counts it as the step's own, unless it is the last draft: then
    it is one more draft, and an id behind it is computed that never comes."""
    path = oracle_gguf.write(tmp_path / "oracle.gguf", misses, stop_after=last)
    ids = oracle_gguf.LETTERS.index(last) + 2
    async with Counting() as probe:
        await started(probe, path)
        await probe.counted(ask("first", "go"))
        deltas, done, counted = await probe.counted(ask("again", "go", max_tokens=100))
        usage = done.usage
        assert "".join(delta.text for delta in deltas) == oracle_gguf.text(ids - 1)
        assert (done.finish, usage.completion_tokens) == ("stop", ids)
        assert usage.verify_steps == counted["n_decode_total"] - 1
        left, came = ids - 1, []
        for right, whole in constructed(ids + 30, misses):
            if left > 0:
                came.append(min(right, left if left == 3 else left - 1))
            left -= whole
        assert usage.accepted_histogram == bars(came)
        assert (usage.verify_steps, usage.accepted_drafts) == (len(came), sum(came))


async def test_off_is_off(tmp_path: Path) -> None:
    async with Counting() as probe:
        ready = await started(probe, oracle_gguf.write(tmp_path / "oracle.gguf"), mtp=False)
        assert ready.proofs["mtp"].active is False and ready.facts["mtp_layers"] == 1
        deltas, done, counted = await probe.counted(ask("a", "go", max_tokens=40))
        assert "".join(delta.text for delta in deltas) == oracle_gguf.text(40)
        assert done.usage.verify_steps is None and counted["spec_decode_num_draft_tokens_total"] == 0


@pytest.mark.parametrize(("steps", "drafted"), [(1, 1), (7, 7), ("auto", 7)])
async def test_the_number_of_drafts_is_the_setting_s(tmp_path: Path, steps: int | str, drafted: int) -> None:
    async with Counting() as probe:
        path = oracle_gguf.write(tmp_path / "oracle.gguf")
        ready = await started(probe, path, options={"draft_steps": steps})
        assert ready.proofs["mtp"].facts["parameters"] == {"n_max": drafted}
        deltas, done, _ = await probe.counted(ask("a", "go", max_tokens=1 + 8 * (drafted + 1)))
        assert isinstance(done, Done) and done.usage.verify_steps == 8
        assert deltas[-1].draft_length == drafted
