"""One prompt through the real engine path, as often as asked: what `spark-chat check` does.

Runs on the same driver and meters as the chat; there is no second way to count.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece, Snapshot, Update
from spark_chat.engine.protocol import Failed, Turn
from spark_chat.headless.narrator import Narrator
from spark_chat.meters.line import answer_line
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings

STOP_S = 5.0
"""How long a stopped answer is waited for, seconds."""


class Driving(Protocol):
    """What a check needs of the driver."""

    snapshot: Snapshot

    async def start(self, settings: Settings) -> None: ...

    def ask(self, id: str, messages: tuple[Turn, ...], settings: Settings) -> None: ...

    def abort(self, id: str | None = None) -> None: ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Run:
    """One answer: what came, and its numbers. `failure` where it did not come to an end of its own.
    `engine_figures`: what the engine itself counted and timed."""

    text: str
    reasoning: str
    numbers: AnswerNumbers
    failure: Failed | None = None
    engine_figures: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a check found. `snapshot`: as it was at the end, before the engine was stopped."""

    settings: Settings
    snapshot: Snapshot
    runs: tuple[Run, ...] = ()
    interrupted: bool = False

    @property
    def failure(self) -> Failed | None:
        """Why it did not get through; None where all runs came to an end."""
        if self.snapshot.failure is not None:
            return self.snapshot.failure
        return next((run.failure for run in self.runs if run.failure is not None), None)


@dataclass
class _Gathered:
    """The updates of all answers, by id."""

    text: dict[str, list[str]] = field(default_factory=dict)
    reasoning: dict[str, list[str]] = field(default_factory=dict)
    ended: dict[str, asyncio.Future[Answered]] = field(default_factory=dict)

    def expect(self, id: str) -> asyncio.Future[Answered]:
        self.text[id], self.reasoning[id] = [], []
        self.ended[id] = asyncio.get_running_loop().create_future()
        return self.ended[id]

    def take(self, update: Piece | Answered) -> None:
        if isinstance(update, Piece):
            self.text[update.id].append(update.text)
            self.reasoning[update.id].append(update.reasoning)
        elif not self.ended[update.id].done():
            self.ended[update.id].set_result(update)

    def run(self, answered: Answered) -> Run:
        id = answered.id
        text, reasoning = "".join(self.text[id]), "".join(self.reasoning[id])
        return Run(text, reasoning, answered.numbers, answered.failure, answered.engine_figures)


class Check:
    """`make`: a driver for a listener. `interrupt()` may be called at any time, also from a signal handler of the
    event loop: what was measured by then is kept."""

    def __init__(self, make: Callable[[Callable[[Update], None]], Driving], narrator: Narrator) -> None:
        self._gathered = _Gathered()
        self._narrator = narrator
        self._driver = make(self._listen)
        self._interrupted = asyncio.Event()

    def interrupt(self) -> None:
        """End soon."""
        self._interrupted.set()

    def _listen(self, update: Update) -> None:
        if isinstance(update, Changed):
            self._narrator.snapshot(update.snapshot)
        else:
            self._gathered.take(update)

    async def run(self, prompt: str, runs: int, settings: Settings) -> Outcome:
        """Start the engine, ask `prompt` `runs` times one after the other, stop the engine."""
        done: list[Run] = []
        try:
            await self._or_interrupt(asyncio.ensure_future(self._driver.start(settings)))
            self._narrator.started(self._driver.snapshot)
            while len(done) < runs and self._driver.snapshot.phase is Phase.READY and not self._interrupted.is_set():
                run = await self._ask(f"run-{len(done) + 1}", prompt, settings)
                if run is None:
                    break
                done.append(run)
                self._narrator.say(f"run {len(done)} of {runs}: {answer_line(run.numbers)}")
                if run.failure is not None:
                    break
            return Outcome(settings, self._driver.snapshot, tuple(done), self._interrupted.is_set())
        finally:
            await self._driver.close()

    async def _ask(self, id: str, prompt: str, settings: Settings) -> Run | None:
        ended = self._gathered.expect(id)
        self._driver.ask(id, (Turn("user", prompt),), settings)
        await self._or_interrupt(ended)
        if not ended.done():
            self._driver.abort(id)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(ended), STOP_S)
        return self._gathered.run(ended.result()) if ended.done() else None

    async def _or_interrupt(self, work: asyncio.Future[None] | asyncio.Future[Answered]) -> None:
        """Wait for `work` or the interrupt, whichever comes first."""
        interrupt = asyncio.ensure_future(self._interrupted.wait())
        try:
            await asyncio.wait([work, interrupt], return_when=asyncio.FIRST_COMPLETED)
        finally:
            interrupt.cancel()
