"""What the transcript costs: CPU time for each update while an answer streams, early and late in it, and what a
resize, a theme change and a focus change cost in a long conversation.

    python -m benchmarks.transcript [--json] [--tokens 64000] [--rounds 3]

Times are of the process's own CPU in milliseconds, so another load on the machine disturbs them little; compare the
ratios. One update carries five tokens of four characters, as at 100 tok/s with 20 updates a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

from textual.app import App, ComposeResult
from textual.events import AppBlur, AppFocus

from spark_chat.tui.garbage import collect_seldom
from spark_chat.tui.transcript import Restored, Transcript, pulse

TOKEN = 4
"""Characters of a token."""
UPDATE = 5 * TOKEN
MEASURED = 1_000 * TOKEN
PACE = pulse.PERIOD, pulse.SHARE
FILLED = 4_000
"""Characters that fill the screen: before, lines are added and none scrolls, which is cheaper."""

PROSE = "The machine reads its weights once for every token, so what counts is *bandwidth*, and `memory` is the wall. "
ITEM = "- item **number {n}** of a list that goes on and on with some `code` in it\n"
ROW = "| {n} | a cell with words | {n} | 1.25 | another **cell** |\n"
CODE = "    total += weights[{n}] * activations[{n}]  # accumulate in fp32\n"


def prose(size: int) -> str:
    """Paragraphs of some 400 characters."""
    return ((PROSE * 4).strip() + "\n\n") * (size // (len(PROSE) * 4) + 1)


def items(size: int) -> str:
    """One list."""
    return "".join(ITEM.format(n=n) for n in range(size // len(ITEM) + 1))


def rows(size: int) -> str:
    """Tables of 200 rows."""
    head = "\n| n | words | more | number | last |\n|---|---|--:|--:|---|\n"
    return "".join((head if n % 200 == 0 else "") + ROW.format(n=n) for n in range(size // len(ROW) + 1))


def code(size: int) -> str:
    """Fences of 16k characters."""
    lines = [CODE.format(n=n) for n in range(size // len(CODE) + 1)]
    step = 16_000 // len(CODE)
    return "".join("```python\n" + "".join(lines[at : at + step]) + "```\n\n" for at in range(0, len(lines), step))


def one_fence(size: int) -> str:
    """One fence, never closed."""
    return "```python\n" + "".join(CODE.format(n=n) for n in range(size // len(CODE) + 1))


SHAPES = {"prose": prose, "16k fences": code, "one endless fence": one_fence, "200-row tables": rows, "one list": items}


class Host(App[None]):
    """A bare app around a transcript."""

    def compose(self) -> ComposeResult:
        yield Transcript()


def _chunks(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


async def _settle(transcript: Transcript) -> None:
    while not transcript.settled:  # noqa: ASYNC110
        await asyncio.sleep(0.002)
    await asyncio.sleep(0.02)


async def _stream(transcript: Transcript, id: str, text: str) -> tuple[float, float, float]:
    """Mean, 95th centile and largest CPU milliseconds of an update, its painting included."""
    costs = []
    for chunk in _chunks(text, UPDATE):
        before = time.process_time()
        transcript.append(id, chunk)
        await asyncio.sleep(0.025)
        costs.append((time.process_time() - before) * 1000)
    costs.sort()
    return statistics.fmean(costs), costs[int(len(costs) * 0.95)], costs[-1]


async def _waits(transcript: Transcript, id: str, text: str) -> float:
    """95th centile of the milliseconds that a key would wait for the loop, at 300 tok/s and the product's pace."""
    delays: list[float] = []

    async def probe() -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.005)
            delays.append((time.perf_counter() - start - 0.005) * 1000)

    probing = asyncio.create_task(probe())
    for chunk in _chunks(text, UPDATE):
        transcript.append(id, chunk)
        await asyncio.sleep(5 / 300)
    probing.cancel()
    delays.sort()
    return delays[int(len(delays) * 0.95)]


async def _idle() -> float:
    before = time.process_time()
    for _ in range(40):
        await asyncio.sleep(0.025)
    return (time.process_time() - before) * 1000 / 40


async def _shape(make: Any, tokens: int, rounds: int) -> dict[str, float]:
    app = Host()
    text = make(tokens * TOKEN + MEASURED)
    late_from = tokens * TOKEN - MEASURED
    early, late = [], []
    async with app.run_test(size=(120, 40)):
        transcript = app.query_one(Transcript)
        collect_seldom()  # as the app does
        idle = await _idle()
        for number in range(rounds + 1):
            transcript.clear()
            transcript.add_answer(f"early{number}", "model")
            transcript.append(f"early{number}", text[:FILLED])
            await _settle(transcript)
            cost = await _stream(transcript, f"early{number}", text[FILLED : FILLED + MEASURED])
            if number == 0:
                continue  # this one warmed imports and caches
            early.append(cost)
            transcript.clear()
            transcript.add_answer(f"late{number}", "model")
            for chunk in _chunks(text[:late_from], 20_000):
                transcript.append(f"late{number}", chunk)
                await _settle(transcript)
            late.append(await _stream(transcript, f"late{number}", text[late_from : late_from + MEASURED]))
        pace = pulse.PERIOD, pulse.SHARE
        pulse.PERIOD, pulse.SHARE = PACE
        waits = await _waits(transcript, f"late{rounds}", text[late_from : late_from + MEASURED])
        pulse.PERIOD, pulse.SHARE = pace
    early_ms, late_ms = statistics.median(cost[0] for cost in early), statistics.median(cost[0] for cost in late)
    return {
        "idle_ms": idle, "early_ms": early_ms, "late_ms": late_ms, "ratio": late_ms / early_ms,
        "late_p95_ms": statistics.median(cost[1] for cost in late), "late_max_ms": max(cost[2] for cost in late),
        "key_waits_p95_ms": waits,
    }  # fmt: skip


MESSAGE = (
    "Some *words* before.\n\n```python\ndef f(x):\n    return x + 1\n```\n\n| a | b |\n|---|---|\n| 1 | two |\n\n"
    "1. one\n2. two\n   - nested\n\nAnd a closing paragraph of some length, so that it wraps at most widths in use.\n"
)


async def _long(messages: int) -> dict[str, float]:
    app = Host()
    found: dict[str, float] = {}

    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.query_one(Transcript)

        async def timed(name: str, change: Any) -> None:
            await _settle(transcript)
            start = time.process_time()
            waited = change()
            if asyncio.iscoroutine(waited):
                await waited
            await pilot.pause()
            await _settle(transcript)
            found[name] = (time.process_time() - start) * 1000

        stored = [
            Restored("prompt" if n % 2 == 0 else "answer", f"m{n}", MESSAGE if n % 2 else "Why?", line="9 tok")
            for n in range(messages)
        ]
        await timed("restore_ms", lambda: transcript.restore(stored))
        for _ in range(60):  # reading back: many entries are laid out
            transcript.action_page_up()
            await pilot.pause()
        await timed("resize_ms", lambda: pilot.resize_terminal(90, 40))
        await timed("theme_ms", lambda: setattr(app, "theme", "textual-light"))
        await timed("focus_out_ms", lambda: app.post_message(AppBlur()))
        await timed("focus_in_ms", lambda: app.post_message(AppFocus()))
        await timed("home_ms", transcript.action_scroll_home)
        await timed("end_ms", transcript.action_scroll_end)
        large = [Restored("answer", "large", prose(100_000) + code(100_000) + rows(100_000))]
        await timed("restore_300k_ms", lambda: transcript.restore(large))
    return found


def main() -> None:
    """Run all and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tokens", type=int, default=64_000)
    parser.add_argument("--messages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3, help="the ratio is of medians over so many")
    parser.add_argument("--only", default="", help="shapes whose name has this in it")
    asked = parser.parse_args()
    pulse.PERIOD, pulse.SHARE = 0.0, 1000.0
    chosen = {name: make for name, make in SHAPES.items() if asked.only in name}
    streams = {name: asyncio.run(_shape(make, asked.tokens, asked.rounds)) for name, make in chosen.items()}
    long = asyncio.run(_long(asked.messages))
    if asked.json:
        print(json.dumps({"streams": streams, "long": long}, indent=2))
        return
    print(f"CPU ms of an update of 5 tokens; late: at {asked.tokens:,} tokens\n")
    print(f"{'':20}{'idle':>8}{'1k':>8}{'late':>8}{'ratio':>8}{'p95':>8}{'max':>8}{'key p95':>9}")
    for name, costs in streams.items():
        figures = (costs[key] for key in ("idle_ms", "early_ms", "late_ms", "ratio", "late_p95_ms", "late_max_ms"))
        print(f"{name:20}" + "".join(f"{figure:8.2f}" for figure in figures) + f"{costs['key_waits_p95_ms']:9.2f}")
    print(f"\nCPU ms with {asked.messages:,} messages\n")
    for name, cost in long.items():
        print(f"{name.removesuffix('_ms'):20}{cost:8.1f}")


if __name__ == "__main__":
    main()
