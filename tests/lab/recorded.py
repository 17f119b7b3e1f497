"""A record of a small, made-up measurement, for the tests of records and of what is made of them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from spark_chat.lab.plan import Plan
from spark_chat.lab.record import record
from spark_chat.lab.results import AnyFound, Order, Start, Visit
from tests.fakes import MACHINE
from tests.lab.scripted import answer, plan

SPEEDS = {(0, "a"): 100.0, (0, "b"): 50.0, (1, "a"): 220.0, (1, "b"): 45.0}


def found_in(whole: Plan, speeds: dict[tuple[int, str], float] = SPEEDS, rounds: int = 3) -> list[AnyFound]:
    """Three rounds, one in a hundred faster each, with accept length 2 where MTP is on."""
    found: list[AnyFound] = [Order(order="interleaved")]
    for place in range(len(whole.configurations)):
        found.append(Start(
            configuration=place, ready_s=2.0 + place, stages={"weights": 1.0, "graphs": 0.5}, engine="llama.cpp",
            version="b1", model="small.gguf", context=2048, facts={"kv_cache_bytes": 1024, "log": "/home/me/x.log"},
        ))  # fmt: skip
        found.append(answer(place, role="warm-up", round=0, tok_s=1.0, cold=True))
        for (configuration, item), speed in speeds.items():
            for round in range(1, rounds + 1):
                if configuration == place:
                    drafts = {"accept_length": 2.0, "accepted_histogram": [1, 0, 3], "verify_steps": 4} if place else {}
                    found.append(answer(place, item, round, speed * (1 + round / 100), text_digest=item, **drafts))
        state = {"mtp": {"state": "ACTIVE" if place else "OFF", "reason": "", "requested": bool(place)}}
        found.append(Visit(configuration=place, optimizations=state, memory_bytes=1 << 20))
    return found


@cache
def usual() -> str:
    """The record of two configurations, as JSON, since the intervals take a while."""
    return json.dumps(built())


def made(whole: Plan | None = None, found: list[AnyFound] | None = None, **fields: Any) -> dict[str, Any]:
    if whole is None and found is None and not fields:
        return json.loads(usual())  # type: ignore[no-any-return]
    return built(whole, found, **fields)


def built(whole: Plan | None = None, found: list[AnyFound] | None = None, **fields: Any) -> dict[str, Any]:
    whole = whole or plan(rounds=3)
    about: dict[str, Any] = {"id": "20260102-030405-abcd", "made": "2026-01-02T03:04:05Z", "machine": MACHINE, **fields}
    return record(whole, found_in(whole) if found is None else found, **about)
