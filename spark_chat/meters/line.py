"""The line that stays under an answer: `214 tok, 131.2 tok/s, TTFT 0.08 s, TPOT 7.6 ms, accept 1.83 (117 steps)`."""

from __future__ import annotations

from spark_chat.meters import units
from spark_chat.meters.numbers import AnswerNumbers

WAIT_WORTH_SAYING_S = 0.5
"""A wait in the queue or for the engine is shown from here on, seconds."""

_FINISH = {
    "abort": "stopped",
    "length": "cut at max tokens",
    "context": "context full",
    "failed": "failed",
}


def answer_parts(numbers: AnswerNumbers) -> list[str]:
    """The line's parts in their order, for whoever lays them out itself. A number that is not known reads "-"."""
    parts = [
        f"{numbers.tokens:,} tok",
        f"{units.rate(numbers.decode_tok_s)} tok/s",
        f"TTFT {units.seconds(numbers.ttft_s)}",
        f"TPOT {units.milliseconds(numbers.tpot_ms)}",
        accept_part(numbers),
    ]
    if numbers.waited_s is not None and numbers.waited_s >= WAIT_WORTH_SAYING_S:
        parts.append(f"waited {units.seconds(numbers.waited_s)}")
    if numbers.cold:
        parts.append("cold")
    if numbers.finish in _FINISH:
        parts.append(_FINISH[numbers.finish])
    return parts


def known_parts(numbers: AnswerNumbers) -> list[str]:
    """Those of `answer_parts` that have a value: for an answer that did not come to an end of its own."""
    absent = (f"{units.NONE} tok/s", f"TTFT {units.NONE}", f"TPOT {units.NONE}", f"accept {units.NONE}")
    return [part for part in answer_parts(numbers) if part not in absent] if numbers.tokens else []


def accept_part(numbers: AnswerNumbers) -> str:
    """`accept 1.83 (117 steps)`; `accept 1.00 (117 steps, no drafts)` where none was made; `accept -` without
    speculation."""
    if numbers.accept_length is None or numbers.verify_steps is None:
        return f"accept {units.NONE}"
    steps = "1 step" if numbers.verify_steps == 1 else f"{numbers.verify_steps:,} steps"
    drafted = numbers.proposed_drafts is None or numbers.proposed_drafts > 0 or (numbers.accepted_drafts or 0) > 0
    return f"accept {units.accept(numbers.accept_length)} ({steps}{'' if drafted else ', no drafts'})"


def answer_line(numbers: AnswerNumbers, separator: str = ", ") -> str:
    """All parts in one line."""
    return separator.join(answer_parts(numbers))
