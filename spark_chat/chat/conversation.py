"""A conversation: what was asked, what came back, and what of it the model is sent.

Pure: no I/O, no clock. The text held here is raw, byte for byte as typed and as received; cleaning is the display's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from spark_chat.meters.numbers import AnswerNumbers

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Failed, Turn


TOO_LONG = "too long for the context"
"""The reason of a prompt that did not fit."""


class Stage(Enum):
    """How far an exchange is. STOPPED and FAILED keep what had come."""

    QUEUED = "queued"
    ANSWERING = "answering"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def over(self) -> bool:
        return self in (Stage.DONE, Stage.STOPPED, Stage.FAILED)


class Gathered:
    """Text that grows by pieces; joined only when it is asked for, so that a long answer costs no more a piece."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []

    def add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def __bool__(self) -> bool:
        return bool(self._pieces)


@dataclass
class Exchange:
    """One prompt and its answer. `model` is the name of the one that answered, as a person reads it."""

    id: str
    prompt: str
    model: str = ""
    stage: Stage = Stage.QUEUED
    answer: Gathered = field(default_factory=Gathered)
    reasoning: Gathered = field(default_factory=Gathered)
    numbers: AnswerNumbers | None = None
    failure: Failed | None = None
    reason: str = ""
    """Why it failed, in a sentence; kept with the conversation."""
    reading: float | None = None
    """How much of the prompt was read, 0..1, before the first token; None where the engine does not tell."""
    engine_figures: dict[str, object] = field(default_factory=dict)
    began: bool = False
    """Whether the engine ever began to answer it."""

    @property
    def unseen(self) -> bool:
        """Whether it is over and goes along with no later prompt: there is no answer to it."""
        return self.stage.over and not str(self.answer).strip()

    def end(self, numbers: AnswerNumbers, failure: Failed | None) -> None:
        """The answer is over, with these numbers."""
        self.numbers, self.failure = numbers, failure
        if failure is not None:
            self.reason = TOO_LONG if failure.code == "overflow" else failure.what
            self.stage = Stage.FAILED
        else:
            self.stage = Stage.STOPPED if numbers.finish == "abort" else Stage.DONE


@dataclass
class Conversation:
    """Exchanges in order. Those before `first_sent` stay on screen and on disk but are no longer sent."""

    id: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    first_sent: int = 0

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self.exchanges)

    def __len__(self) -> int:
        return len(self.exchanges)

    def add(self, exchange: Exchange) -> Exchange:
        self.exchanges.append(exchange)
        return exchange

    def find(self, id: str) -> Exchange | None:
        """The exchange called `id`. The newest are looked at first: they are the ones that change."""
        return next((item for item in reversed(self.exchanges) if item.id == id), None)

    @property
    def waiting(self) -> list[Exchange]:
        return [item for item in self.exchanges if item.stage is Stage.QUEUED]

    def sent_before(self, exchange: Exchange) -> list[Exchange]:
        """The earlier exchanges whose turns go along with `exchange`'s prompt: those with an answer, cut off or not."""
        end = self.exchanges.index(exchange)
        return [item for item in self.exchanges[self.first_sent : end] if str(item.answer).strip()]

    def turns(self, exchange: Exchange, system_prompt: str = "") -> list[Turn]:
        """What the model gets for `exchange`: the system prompt, the turns before, the prompt. No old reasoning."""
        from spark_chat.engine.protocol import Turn

        turns = [Turn(role="system", content=system_prompt)] if system_prompt.strip() else []
        for earlier in self.sent_before(exchange):
            turns.append(Turn(role="user", content=earlier.prompt))
            turns.append(Turn(role="assistant", content=str(earlier.answer)))
        turns.append(Turn(role="user", content=exchange.prompt))
        return turns

    def oldest_to_drop(self, exchange: Exchange, prompt_tokens: int, context: int, room: int) -> int:
        """How many of the oldest sent exchanges must go so that `exchange` fits with `room` tokens for its answer.

        Tokens are shared out by length, since an engine counts the whole: `prompt_tokens` over the characters sent.
        0 where there is nothing to drop, or where dropping all of them would not do.
        """
        earlier = self.sent_before(exchange)
        sizes = [len(item.prompt) + len(str(item.answer)) for item in earlier]
        characters = sum(sizes) + len(exchange.prompt)
        if not earlier or not characters:
            return 0
        density = prompt_tokens / characters
        over = prompt_tokens - context
        if over >= sum(sizes) * density:
            return 0
        excess = float(over + room)
        count = 0
        while excess > 0 and count < len(sizes):
            excess -= sizes[count] * density
            count += 1
        return count

    def drop_oldest(self, exchange: Exchange, count: int) -> int:
        """Stop sending the `count` oldest of the exchanges that go along with `exchange`. Returns how many went."""
        earlier = self.sent_before(exchange)[:count]
        if earlier:
            self.first_sent = self.exchanges.index(earlier[-1]) + 1
        return len(earlier)
