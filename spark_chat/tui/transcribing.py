"""From an exchange to what stands in the transcript: labels, notes, the line of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from spark_chat.chat.conversation import TOO_LONG, Conversation, Exchange, Stage
from spark_chat.meters import units
from spark_chat.meters.line import answer_line, known_parts
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.tui.transcript import Restored
from spark_chat.tui.transcript.entry import QUEUED

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Failed


UNSEEN = "not answered: no part of what the model sees"


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
    """The numbers that stay under an answer, why it failed, and whether the model goes on seeing it. How it ended,
    where not by itself, the transcript says with a mark."""
    numbers = exchange.numbers
    if exchange.stage in (Stage.FAILED, Stage.STOPPED):
        parts = known_parts(replace(numbers, finish=None)) if numbers is not None else []
        if exchange.reason:
            parts.append(exchange.reason.rstrip("."))
    else:
        parts = [answer_line(numbers, " · ")] if numbers is not None else []
    if exchange.unseen and exchange.reason != TOO_LONG:
        parts.append(UNSEEN)
    return " · ".join(parts)


def waiting_mark(ready: bool) -> str:
    """What stands under a prompt that waits. `ready`: the engine is up, so that others are before it."""
    return QUEUED if ready else "… queued: sent when the engine is ready"


def reading_note(exchange: Exchange) -> str:
    """How far the reading of the prompt is, ` · 42 %`; empty where the engine does not tell."""
    return "" if exchange.reading is None else f" · {exchange.reading:.0%}"


def unsent_mark(exchange: Exchange) -> str:
    """What stands under a prompt whose turn never came."""
    if exchange.stage is Stage.FAILED:
        return "✗ failed: not sent"
    return "■ not sent; the up key brings it back"


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
        if exchange.began:
            yield Restored(
                "answer", exchange.id, str(exchange.answer), short_name(exchange.model), str(exchange.reasoning),
                thought_note(exchange.numbers), end_line(exchange), transcript_state(exchange),
            )  # fmt: skip
