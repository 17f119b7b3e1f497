"""The warm-up meets every class of prompt length, within what the engine takes, and says how far it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine import sglang_warm


class Engine:
    """Takes prompts up to a limit, as SGLang does, and remembers them."""

    def __init__(self, limit: int) -> None:
        self.limit, self.prompts = limit, list[list[int]]()

    async def async_generate(self, input_ids: list[int], sampling_params: dict[str, Any], **_: Any) -> Any:
        if len(input_ids) + sampling_params["max_new_tokens"] > self.limit:
            raise ValueError("too long")
        self.prompts.append(input_ids)
        return self._stream()

    async def _stream(self) -> AsyncIterator[dict[str, Any]]:
        yield {"text": ""}


@given(st.integers(16, 300_000))
def test_the_ladder_doubles_up_to_its_end(largest: int) -> None:
    found = sglang_warm.lengths(largest)
    assert found[-1] == largest and found == sorted(set(found)) and found[0] == 8
    assert all(after <= 3 * before for before, after in pairwise(found))


@given(st.integers(200, 300_000), st.integers(4, 14))
def test_each_class_of_lengths_has_one_that_is_no_whole_number_of_pages(largest: int, power: int) -> None:
    found = sglang_warm.lengths(largest)
    if 2 ** (power + 1) <= largest:
        assert any(2**power < length <= 2 ** (power + 1) and length % 16 for length in found)
    assert any(length % 64 == 0 for length in found), "and some that are"


@given(st.integers(64, 20_000), st.integers(64, 8192))
def test_no_step_is_longer_than_the_engine_takes(limit: int, piece: int) -> None:
    assert all(step.prompt + step.answer <= limit for step in sglang_warm.steps(limit, piece))


async def test_prompts_share_a_start_only_where_they_should() -> None:
    engine, told = Engine(4096), list[tuple[str, float | None]]()
    await sglang_warm.warm(engine, 4096, 8192, lambda stage, fraction, _text: told.append((stage, fraction)))
    lengths = [len(prompt) for prompt in engine.prompts]
    assert {8, 64, 517, 2053, 4094} <= set(lengths)
    *others, first, second = engine.prompts
    assert second[: len(first)] == first and len(second) > len(first)
    assert len({tuple(prompt[:8]) for prompt in others}) == len(others)
    fractions = [fraction for _, fraction in told if fraction is not None]
    assert fractions == sorted(fractions) and fractions[0] == 0 and fractions[-1] < 1
    assert all(token < 64 for prompt in engine.prompts for token in prompt)


async def test_a_prompt_that_is_refused_stops_nothing() -> None:
    engine = Engine(1000)
    await sglang_warm.warm(engine, 4096, 8192, lambda *_: None)
    assert max(len(prompt) for prompt in engine.prompts) == 517
