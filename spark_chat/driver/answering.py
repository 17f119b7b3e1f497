"""The one answer that runs: its prompt, its meter, and its end."""

from __future__ import annotations

from dataclasses import replace

from spark_chat.driver.queue import Prompt
from spark_chat.driver.snapshot import Answered, Piece
from spark_chat.engine.protocol import AnyEvent, Delta, Done, Failed
from spark_chat.meters.answer import AnswerMeter


class Answering:
    """Feed it the events with its prompt's id."""

    def __init__(self, prompt: Prompt, cold: bool) -> None:
        self.prompt = prompt
        self._meter = AnswerMeter(prompt.submitted, cold)

    def take(self, event: AnyEvent) -> Piece | Answered | None:
        """What a front end is told of `event`, where anything."""
        self._meter.feed(event)
        numbers = self._meter.numbers
        if isinstance(event, Delta):
            return Piece(self.prompt.id, event.text, event.reasoning, numbers(), event.reading, event.was_thought)
        if isinstance(event, Done):
            return Answered(
                self.prompt.id, numbers(), settings_used=self.prompt.settings_used(),
                engine_figures=event.timings.engine,
            )  # fmt: skip
        if isinstance(event, Failed):
            return Answered(self.prompt.id, numbers(), event, self.prompt.settings_used())
        return None

    def stopped(self) -> Answered:
        """Its end where the engine is stopped under it at the person's wish: what came stays."""
        numbers = replace(self._meter.numbers(), finish="abort", live_tok_s=None, live_accept_length=None)
        return Answered(self.prompt.id, numbers, settings_used=self.prompt.settings_used())
