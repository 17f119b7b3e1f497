"""What is said of an exchange, in words: its label, its line of numbers, why it failed. Pure, for every front end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spark_chat.chat.conversation import TOO_LONG, Exchange, Stage
from spark_chat.meters import units
from spark_chat.meters.line import answer_line, known_parts
from spark_chat.meters.numbers import AnswerNumbers

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


def end_line(exchange: Exchange, separator: str = " · ") -> str:
    """The numbers that stay under an answer, why it failed, and whether the model goes on seeing it. How it ended,
    where not by itself, the front end says itself."""
    numbers = exchange.numbers
    if exchange.stage in (Stage.FAILED, Stage.STOPPED):
        parts = known_parts(replace(numbers, finish=None)) if numbers is not None else []
        if exchange.reason:
            parts.append(exchange.reason.rstrip("."))
    else:
        parts = [answer_line(numbers, separator)] if numbers is not None else []
    if exchange.earlier and parts:
        parts.insert(0, f"goes on after {sum(part.tokens for part in exchange.earlier):,} tok:")
        parts[0:2] = [" ".join(parts[0:2])]
    if exchange.unseen and exchange.reason != TOO_LONG:
        parts.append(UNSEEN)
    return separator.join(parts)


def failure_text(failure: Failed) -> str:
    """What happened, why, what to do."""
    return " ".join(sentence for sentence in (failure.what, failure.why, failure.remedy) if sentence)
