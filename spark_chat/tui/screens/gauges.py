"""What the meters and the chart show of the conversation on screen: never figures of one that was left, nor of an
engine that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_chat.chat.conversation import Conversation, Stage
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.tui.widgets.meters import Readings, Trail, readings

if TYPE_CHECKING:
    from spark_chat.meters.numbers import AnswerNumbers

LIVE_EVERY_S = 0.25
"""The meters follow an answer at this step; faster can't be read and costs the engine's cores."""


def known_context(conversation: Conversation, model: str) -> int | None:
    """Tokens that the conversation holds, as `model` counted them at its last answer; 0 for an empty one, None where
    nobody counted: its last answer failed, is of another model, or of another engine."""
    for exchange in reversed(conversation.exchanges):
        numbers = exchange.numbers
        if exchange.stage is Stage.QUEUED or exchange.unseen:
            continue
        if numbers is None or numbers.prompt_tokens is None or (model and exchange.model != model):
            return None
        return numbers.prompt_tokens + numbers.tokens
    return 0 if not any(item.began for item in conversation) else None


class Gauges:
    """Told of everything that moves them."""

    def __init__(self) -> None:
        self.numbers: AnswerNumbers | None = None
        self.trails = (Trail(), Trail())
        self.context: int | None = 0
        self._answered: list[AnswerNumbers] = []
        """Of the engine that is up: figures that may be shown again where their answer stands last."""
        self._snapshot = Snapshot()
        self._live_at = 0.0

    def begin(self) -> None:
        """An answer begins."""
        self.numbers = None
        for trail in self.trails:
            trail.clear()

    def restored(self, conversation: Conversation) -> None:
        """Another conversation stands there now, or another engine will answer it."""
        self.begin()
        self.turned(conversation)
        last = conversation.exchanges[-1].numbers if conversation.exchanges else None
        if last is not None and last in self._answered:
            self.numbers = last

    def ended(self, numbers: AnswerNumbers | None) -> None:
        """An answer is over."""
        self.numbers = numbers
        if numbers is not None:
            self._answered.append(numbers)

    def turned(self, conversation: Conversation) -> None:
        """Other versions of the conversation stand there now: they may hold more or less of the context."""
        recipe = self._snapshot.recipe
        self.context = known_context(conversation, recipe.model.name if recipe else "")

    def piece(self, numbers: AnswerNumbers, now: float) -> bool:
        """More of the answer came; whether it is time to show it. `now`: seconds."""
        self.numbers = numbers
        if now - self._live_at < LIVE_EVERY_S:
            return False
        self._live_at = now
        self.trails[0].add(numbers.live_tok_s)
        self.trails[1].add(numbers.live_accept_length)
        return True

    def changed(self, snapshot: Snapshot, conversation: Conversation) -> None:
        """The engine's state changed. A count belongs here only where the answer is one of this conversation."""
        was, self._snapshot = self._snapshot, snapshot
        if (was.phase is Phase.READY) != (snapshot.phase is Phase.READY):
            self._answered.clear()
            self.restored(conversation)
        elif snapshot.context_used != was.context_used:
            ids = {id for id in (was.answering, snapshot.answering) if id is not None}
            if any(conversation.find(id) for id in ids):
                self.context = snapshot.context_used

    def readings(self, queue: int, memory_all: int | None) -> Readings:
        """What the meters show now. `memory_all`: the machine's, in bytes."""
        return readings(self._snapshot, self.numbers, self.trails, queue, memory_all, self.context)
