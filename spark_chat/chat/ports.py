"""What a sitting needs of others: an engine, a keeper, a front end; and what it tells of a prompt that is too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from spark_chat.chat.conversation import Conversation, Exchange
from spark_chat.driver.snapshot import Snapshot
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Failed, Opening, Turn


class Engine(Protocol):
    """What a sitting needs of the driver."""

    def ask(self, id: str, messages: Sequence[Turn], settings: Settings, *, opening: Opening | None = None) -> None: ...
    def abort(self, id: str | None = None) -> None: ...


class Keeper(Protocol):
    """Where what is typed and received is kept; see `keeping.py`."""

    def begin(self, conversation: Conversation) -> None: ...
    def asked(self, exchange: Exchange) -> None: ...
    def started(self, exchange: Exchange) -> None: ...
    def piece(self, exchange: Exchange, text: str, reasoning: str) -> None: ...
    def recast(self, exchange: Exchange) -> None: ...
    def ended(self, exchange: Exchange) -> None: ...
    def draft(self, text: str) -> None: ...
    def shown(self, chosen: Exchange) -> None: ...
    def set_up(self, conversation: Conversation) -> None: ...
    def fork(self, conversation: Conversation, title: str, copies: list[tuple[Exchange, Exchange]]) -> None: ...


class View(Protocol):
    """A front end. It is told of what is on screen; `turned`: from number `place` on other exchanges are. `recast`: the
    answer's text so far was a thought."""

    def changed(self, snapshot: Snapshot) -> None: ...
    def asked(self, exchange: Exchange) -> None: ...
    def staged(self, exchange: Exchange) -> None: ...
    def piece(self, exchange: Exchange, text: str, reasoning: str, numbers: AnswerNumbers) -> None: ...
    def recast(self, exchange: Exchange) -> None: ...
    def ended(self, exchange: Exchange) -> None: ...
    def turned(self, conversation: Conversation, place: int) -> None: ...
    def overflowed(self, overflow: Overflow | None) -> None: ...


@dataclass(frozen=True)
class Overflow:
    """A prompt that does not fit the context. `drop` of the oldest turns would have to go; 0 where that won't do.
    `at_least`: the prompt by itself has no fewer than `prompt_tokens`, and was not counted further."""

    exchange: Exchange
    prompt_tokens: int
    context: int
    drop: int
    at_least: bool = False

    @property
    def least(self) -> str:
        """What stands before a number of tokens."""
        return "at least " if self.at_least else ""

    @property
    def excess(self) -> int:
        """Tokens too many."""
        return self.prompt_tokens - self.context

    @staticmethod
    def of(conversation: Conversation, exchange: Exchange, failure: Failed, context: int, longest: int) -> Overflow:
        """As the engine's failure tells it. `longest`: tokens of the longest answer."""
        tokens = int(failure.facts.get("prompt_tokens") or context + 1)
        if failure.facts.get("at_least"):
            return Overflow(exchange, tokens, context, 0, at_least=True)
        room = min(longest, context // 4)
        return Overflow(exchange, tokens, context, conversation.oldest_to_drop(exchange, tokens, context, room))
