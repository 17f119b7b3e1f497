"""The warm-up before ready: every kind of step that a chat will meet, so that no kernel compiles under a person's eyes.

Kernels compile apart by the length of a prompt: the linear attention's by its number of chunks, the experts' and the
block-FP8 products' by rows, in classes that grow with the length, and most by whether it is a whole number of pages:
else the state of the linear attention is also kept at the last page's end (seen on an H200 with whole pages alone: the
first prompt of 253 tokens took 27 times a second one, that of 3,003 17 times). A ladder of lengths up to one piece of
a long prompt meets them all; decode, verify, sampling and a prompt whose start is cached come with it.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from spark_chat.engine.interface import Report

FIRST, ANSWER = 64, 24
"""Tokens of the first prompt and its answer: decode and verify steps."""
CACHED = 256
"""Tokens of a prompt that come from the cache in the step that has one; a whole number of pages."""
ODD = 5
"""Tokens above a whole number of pages."""
TOKENS = 61
"""Token ids that prompts are made of: small ones, which every vocabulary has."""


class Step(NamedTuple):
    """`seed` makes its tokens unlike another step's; equal ones share their start."""

    text: str
    seed: int
    prompt: int
    answer: int
    temperature: float = 0.0


def lengths(largest: int) -> list[int]:
    """From 8 up to `largest` tokens: a bit above each power of two, which is no whole number of pages; every other
    power of two itself; and `largest`."""
    found, power = {8, largest}, 16
    while power < largest:
        found |= {power + ODD} | ({power} if power.bit_length() % 2 else set())
        power *= 2
    return sorted(length for length in found if length <= largest)


def steps(limit: int, piece: int) -> Iterator[Step]:
    """`limit`: longest prompt in tokens; `piece`: longest one that is computed at once."""
    first = min(FIRST, limit // 2)
    yield Step("decode and verify", 0, first, ANSWER)
    yield Step("sampling", 1, first, ANSWER, 0.6)
    for number, length in enumerate(lengths(min(piece, limit - 2)), 2):
        yield Step(f"a prompt of {length:,} tokens", number, length, 1)
    if limit > 3 * CACHED:
        yield Step("a prompt with a cached start", 100, CACHED, 1)
        yield Step("a prompt with a cached start", 100, CACHED + FIRST, 1)


def tokens(step: Step) -> list[int]:
    return [3 + (step.seed * 7 + index * (1 + step.seed % 5)) % TOKENS for index in range(step.prompt)]


async def warm(engine: Any, limit: int, piece: int, report: Report) -> None:
    """One request a step."""
    todo = list(steps(limit, piece))
    whole = sum(step.prompt + step.answer for step in todo)
    done = 0
    for step in todo:
        report("warm-up", done / whole, f"Warm-up: {step.text}; kernels that are new on this machine compile now")
        params = {"max_new_tokens": step.answer, "temperature": step.temperature, "top_k": 20, "ignore_eos": True}
        with contextlib.suppress(ValueError):  # longer than this engine takes: no chat will meet it
            stream = await engine.async_generate(
                input_ids=tokens(step), sampling_params=params, stream=True, rid=uuid.uuid4().hex
            )
            async for _chunk in stream:
                pass
        done += step.prompt + step.answer
