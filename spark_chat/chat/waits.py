"""How long prompts waited for their turn, by the exchange's id; seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from spark_chat.meters.numbers import AnswerNumbers


class Waits:
    """`clock`: seconds that only grow."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}
        self._waited: dict[str, float] = {}

    def begin(self, id: str) -> None:
        """It waits from now on."""
        self._since[id] = self._clock()

    def end(self, id: str) -> None:
        """Its turn has come."""
        now = self._clock()
        self._waited[id] = now - self._since.pop(id, now)

    def resume(self, id: str) -> None:
        """It was not its turn after all: what it had waited counts on."""
        self._since[id] = self._clock() - self._waited.pop(id, 0.0)

    def added(self, id: str, numbers: AnswerNumbers) -> AnswerNumbers:
        """The numbers of its answer, with this wait added to the wait for the engine. Asked once."""
        return replace(numbers, waited_s=(numbers.waited_s or 0.0) + self._waited.pop(id, 0.0))
