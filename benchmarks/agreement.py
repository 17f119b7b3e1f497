"""Are the numbers true? `python -m benchmarks.agreement` asks the real engine 200 times and counts in four ways.

- ours: the driver's numbers, as `check`, the lab and the chat show them
- the engine's own: what llama.cpp counted and timed itself for the same request
- a stopwatch that knows no meter: the arrival of each event, stamped as it leaves the client. Independent of the meters
  and of the worker's time stamps, but not of how the worker cuts an answer into events
- the ids of the same prompts and answers from llama.cpp's HTTP endpoint in another process, which lists every id. Of
  this app it has only the parameters that the server is made with

Tokens must be exactly equal. Times are compared within each request, so that a busy machine slows both alike: decode
time (first to last token) to the engine's own and to the stopwatch, in per cent; TTFT to the stopwatch in per cent,
and to the engine's own prefill in ms, since that begins after templating and ends before the first id is handed on.
Exit code 1 where a count differs, or where fewer requests than --share (half: the median) are within 1 %. A busy
machine delays some requests, while a wrong formula is off in every one; so of a few requests on such a machine a
smaller share is asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

from spark_chat.driver.asking import Asking, Run
from spark_chat.driver.driver import Driver
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import AnyEvent, Delta, Done, Started, Turn
from spark_chat.lab import filler
from spark_chat.lab.runner import StageKeeper
from spark_chat.lab.workload import workload
from spark_chat.recipe.recipe import Recipe
from spark_chat.settings.schema import Settings

WITHIN = 0.01


@dataclass
class Stamps:
    """When events of one answer came, seconds, and how many tokens they said."""

    asked: float = 0.0
    first: float = 0.0
    last: float = 0.0
    first_tokens: int = 0
    tokens: int = 0


class Stopwatch(EngineClient):
    """The client, with its events stamped."""

    stamps: dict[str, Stamps]

    async def start(
        self, recipe: Recipe, on_event: Callable[[AnyEvent], None], log: Path | None = None, admit: Any = None
    ) -> None:
        self.stamps = {}

        def stamped(event: AnyEvent) -> None:
            self._stamp(event, time.monotonic())
            on_event(event)

        await super().start(recipe, stamped, log, admit)

    def _stamp(self, event: AnyEvent, now: float) -> None:
        if isinstance(event, Started):
            self.stamps[event.id] = Stamps(asked=now)
        elif isinstance(event, Delta | Done):
            found = self.stamps[event.id]
            tokens = event.tokens if isinstance(event, Delta) else event.usage.completion_tokens
            if tokens > found.tokens:
                if not found.tokens:
                    found.first, found.first_tokens = now, tokens
                found.last, found.tokens = now, tokens


def prompts(count: int) -> list[str]:
    """So many, none like another: the shipped ones, each time with another prefix."""
    random, items = Random(1), workload().items
    return [filler.prefix(random) + items[place % len(items)].messages[-1].content for place in range(count)]


async def ours(texts: Sequence[str], settings: Settings) -> tuple[list[Run], list[Stamps]]:
    """Every answer through the driver, with its stamps."""
    watch = Stopwatch()
    drivers: list[Driver] = []

    def make(listener: Callable[[Any], None]) -> Driver:
        drivers.append(Driver(listener, client_factory=lambda: watch, last_run=StageKeeper()))
        return drivers[0]

    asking = Asking(make)
    runs = []
    try:
        await asking.start(settings)
        for place, text in enumerate(texts):
            run = await asking.ask(f"ask-{place}", (Turn("user", text),), settings)
            if run is None or run.failure is not None:
                raise SystemExit(f"request {place} failed: {run.failure if run else 'no end'}")
            runs.append(run)
        return runs, [watch.stamps[f"ask-{place}"] for place in range(len(texts))]
    finally:
        await drivers[0].close()


def ids(texts: Sequence[str], model: str, mtp: bool, limit: int) -> list[tuple[int, int]]:
    """How many ids llama.cpp lists for each answer, and for its prompt, in a process of its own."""
    given = {"model": model, "mtp": mtp, "args": {}, "asks": [[text, limit] for text in texts]}
    command = [sys.executable, "-m", "tests.engine.native_ids", json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [(len(answer["ids"]), answer["prompt"]) for answer in json.loads(done.stdout)]


def compared(
    runs: Sequence[Run], stamps: Sequence[Stamps], listed: Sequence[tuple[int, int]], share: float = 0.5
) -> tuple[list[str], bool]:
    """The table's lines, and whether all agree: every count, and in times so large a `share` of the requests."""
    own: list[dict[str, Any]] = [run.engine_figures for run in runs]
    counts = [
        ("tokens, engine's own", sum(run.numbers.tokens == made["predicted_n"] for run, made in zip_(runs, own))),
        ("tokens, ids listed by another process", sum(run.numbers.tokens == n for run, (n, _) in zip_(runs, listed))),
        ("prompt tokens, engine's own", sum(
            run.numbers.prompt_tokens == made["prompt_n"] + made["cache_n"] for run, made in zip_(runs, own))),
        ("prompt tokens, ids listed by another process", sum(
            run.numbers.prompt_tokens == n for run, (_, n) in zip_(runs, listed))),
        ("accepted drafts, engine's own", sum(
            (run.numbers.accepted_drafts or 0) == made.get("draft_n_accepted", 0) for run, made in zip_(runs, own))),
    ]  # fmt: skip
    decoding = [
        (run.numbers.latency_s - run.numbers.ttft_s, made["predicted_ms"] / 1000, stamp)
        for run, made, stamp in zip(runs, own, stamps, strict=True)
        if run.numbers.latency_s and run.numbers.ttft_s and run.numbers.tokens > 8
    ]
    by_engine = [abs(mine / its - 1) for mine, its, _ in decoding]
    by_watch = [abs(mine / (stamp.last - stamp.first) - 1) for mine, _, stamp in decoding]
    first = [abs((run.numbers.ttft_s or 0) / (stamp.first - stamp.asked) - 1) for run, stamp in zip_(runs, stamps)]
    before = [(run.numbers.ttft_s or 0) * 1000 - made["prompt_ms"] for run, made in zip_(runs, own)]
    lines = [f"{name:<46} equal {equal} of {len(runs)}" for name, equal in counts]
    for name, off in (("decode time to the engine's own", by_engine), ("decode time to the stopwatch", by_watch),
                      ("TTFT to the stopwatch", first)):  # fmt: skip
        lines.append(f"{name:<46} off by {median(off):.3%} (median), {quantiles(off, n=20)[-1]:.3%} (p95)")
    lines.append(f"{'TTFT over the engine own prefill':<46} {median(before):.1f} ms (median)")
    fine = all(equal == len(runs) for _, equal in counts)
    return lines, fine and all(_agree(off, share) for off in (by_engine, by_watch, first))


def _agree(off: Sequence[float], share: float) -> bool:
    """Whether so large a share is within bounds; half of them is the median."""
    if share == 0.5:
        return median(off) <= WITHIN
    return sum(value <= WITHIN for value in off) >= share * len(off) > 0


def zip_(one: Sequence[Any], other: Sequence[Any]) -> Any:
    return zip(one, other, strict=True)


def main() -> None:
    from tests import model_file

    parser = argparse.ArgumentParser(description="Compare every number with the engine's and an independent one.")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--max-tokens", type=int, default=48)
    parser.add_argument("--mtp", choices=["on", "off"], default="on")
    parser.add_argument("--share", type=float, default=0.5, help="of the requests whose times must be within 1 %%")
    options = parser.parse_args()
    model, mtp = str(model_file.find()), options.mtp == "on"
    plain = Settings()
    settings = replace(
        plain, engine=replace(plain.engine, model=model, context=2048),
        optimizations=replace(plain.optimizations, mtp=mtp),
        sampling=replace(plain.sampling, temperature=0.0, max_tokens=options.max_tokens),
    )  # fmt: skip
    texts = prompts(options.requests)
    runs, stamps = asyncio.run(ours(texts, settings))
    lines, fine = compared(runs, stamps, ids(texts, model, mtp, options.max_tokens), options.share)
    print("\n".join(lines))
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
