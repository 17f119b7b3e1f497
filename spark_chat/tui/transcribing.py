"""From an exchange to what stands in the transcript: labels, notes, the line of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from spark_chat.chat.conversation import Conversation, Exchange, Stage
from spark_chat.meters import units
from spark_chat.meters.line import answer_line
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.tui.transcript import Restored

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Failed


def short_name(model: str) -> str:
    """A model's name as an answer's label: its first word, `SmolLM2` of `SmolLM2-135M-Instruct.Q4_1`."""
    word = model.strip().replace("_", "-").replace(" ", "-").partition("-")[0]
    return word[:12] or "model"


def thought_note(numbers: AnswerNumbers | None) -> str:
    """How long and how much it thought: `2.1 s · 143 tok`; empty where it did not."""
    if numbers is None or not numbers.reasoning_tokens:
        return ""
    took = f"{units.seconds(numbers.reasoning_s)} · " if numbers.reasoning_s is not None else ""
    return f"{took}{numbers.reasoning_tokens:,} tok"


def end_line(exchange: Exchange) -> str:
    """The numbers that stay under an answer. How it ended, where not by itself, the transcript says with a mark."""
    numbers, failure = exchange.numbers, exchange.failure
    if failure is not None and failure.code == "overflow":
        return "too long for the context"
    if numbers is None or (numbers.tokens == 0 and exchange.stage in (Stage.FAILED, Stage.STOPPED)):
        return ""
    if exchange.stage in (Stage.FAILED, Stage.STOPPED):
        numbers = replace(numbers, finish=None)
    return answer_line(numbers, " · ")


def transcript_state(exchange: Exchange) -> str:
    """The transcript's word for how it ended."""
    return {Stage.STOPPED: "stopped", Stage.FAILED: "failed"}.get(exchange.stage, "done")


def failure_text(failure: Failed) -> str:
    """What happened, why, what to do."""
    return " ".join(sentence for sentence in (failure.what, failure.why, failure.remedy) if sentence)


def entries_of(conversation: Conversation) -> Iterator[Restored]:
    """A conversation read back."""
    for exchange in conversation:
        yield Restored("prompt", exchange.id, exchange.prompt, state=exchange.stage.value)
        if exchange.answer or exchange.reasoning:
            yield Restored(
                "answer", exchange.id, str(exchange.answer), short_name(exchange.model), str(exchange.reasoning),
                thought_note(exchange.numbers), end_line(exchange), transcript_state(exchange),
            )  # fmt: skip
