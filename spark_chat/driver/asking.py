"""Prompts put to a driver one after the other, each awaited to its end: under `check` and the latency lab alike.

There is no second way to count: what comes back are the driver's own numbers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from spark_chat.driver.counting import Counter
from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece, Snapshot, Update
from spark_chat.engine.protocol import Failed, Turn
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings

STOP_S = 5.0
"""How long a stopped answer is waited for, seconds."""


class Driving(Protocol):
    """What asking needs of the driver."""

    @property
    def snapshot(self) -> Snapshot: ...

    async def start(self, settings: Settings) -> None: ...

    def ask(self, id: str, messages: Sequence[Turn], settings: Settings, *, ignore_eos: bool = False) -> None: ...

    def abort(self, id: str | None = None) -> None: ...

    @property
    def counting(self) -> Counter: ...


@dataclass(frozen=True)
class Run:
    """One answer: what came, and its numbers. `failure` where it did not come to an end of its own.
    `engine_figures`: what the engine itself counted and timed."""

    text: str
    reasoning: str
    numbers: AnswerNumbers
    failure: Failed | None = None
    engine_figures: dict[str, object] = field(default_factory=dict)


@dataclass
class _Coming:
    """An answer under way."""

    ended: asyncio.Future[Answered]
    on_piece: Callable[[AnswerNumbers], None]
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)

    def run(self) -> Run:
        answered = self.ended.result()
        text, reasoning = "".join(self.text), "".join(self.reasoning)
        return Run(text, reasoning, answered.numbers, answered.failure, answered.engine_figures)


def _nothing(_: object) -> None:
    pass


class Asking:
    """`make` gets the listener for the driver that it makes; for a driver that has another listener, that one hands
    its updates to `take`. `on_change` is told of every snapshot.

    `interrupt()` may be called at any time, also from a signal handler of the event loop.
    """

    def __init__(
        self, make: Callable[[Callable[[Update], None]], Driving], on_change: Callable[[Snapshot], None] = _nothing
    ) -> None:
        self._on_change = on_change
        self._coming: dict[str, _Coming] = {}
        self._interrupted = asyncio.Event()
        self.driver = make(self._listen)

    def _listen(self, update: Update) -> None:
        self.take(update)

    def take(self, update: Update) -> bool:
        """One update of the driver. False for an answer that was not asked for here."""
        if isinstance(update, Changed):
            self._on_change(update.snapshot)
            return True
        coming = self._coming.get(update.id)
        if coming is None:
            return False
        if isinstance(update, Piece):
            if update.was_thought:
                coming.reasoning += coming.text
                coming.text.clear()
            coming.text.append(update.text)
            coming.reasoning.append(update.reasoning)
            if update.numbers.tokens:  # else the prompt is being read
                coming.on_piece(update.numbers)
        elif not coming.ended.done():
            coming.ended.set_result(update)
        return True

    @property
    def interrupted(self) -> bool:
        return self._interrupted.is_set()

    def interrupt(self) -> None:
        """End soon: the start is given up, the answer under way is stopped."""
        self._interrupted.set()

    @property
    def ready(self) -> bool:
        """Whether there is an engine to ask and nobody interrupted."""
        return self.driver.snapshot.phase is Phase.READY and not self.interrupted

    async def start(self, settings: Settings) -> None:
        """Bring the engine up for `settings`, in place of one that runs. The driver's snapshot says what came of it."""
        await self._or_interrupt(asyncio.ensure_future(self.driver.start(settings)))

    async def ask(
        self,
        id: str,
        messages: Sequence[Turn],
        settings: Settings,
        *,
        ignore_eos: bool = False,
        on_piece: Callable[[AnswerNumbers], None] = _nothing,
    ) -> Run | None:
        """The answer to `messages`; None where it was interrupted and the engine gave no end in time."""
        ended: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        coming = self._coming[id] = _Coming(ended, on_piece)
        try:
            self.driver.ask(id, messages, settings, ignore_eos=ignore_eos)
            await self._or_interrupt(ended)
            if not ended.done():
                self.driver.abort(id)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(ended), STOP_S)
            return coming.run() if ended.done() else None
        finally:
            del self._coming[id]

    async def count(self, messages: Sequence[Turn], thinking: bool) -> int | None:
        """How many tokens `messages` are as a prompt, by the engine's own count; None where it can't tell, or where it
        was interrupted: an engine that is on its way out tells nothing."""
        if self.interrupted:
            return None
        counting = asyncio.ensure_future(self.driver.counting.count(messages, (), thinking))
        try:
            await self._or_interrupt(counting)
            found = counting.result() if counting.done() else None
            return None if found is None else found.prompt_tokens
        finally:
            counting.cancel()

    async def _or_interrupt(self, work: asyncio.Future[Any]) -> None:
        """Wait for `work` or the interrupt, whichever comes first."""
        interrupt = asyncio.ensure_future(self._interrupted.wait())
        try:
            await asyncio.wait([work, interrupt], return_when=asyncio.FIRST_COMPLETED)
        finally:
            interrupt.cancel()
