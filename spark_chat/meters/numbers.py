"""The numbers themselves, as plain values; `definitions.py` says what each means, the meters compute them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AnswerNumbers:
    """One answer, so far or in the end. None: not known, or it has no meaning (accept length without speculation)."""

    tokens: int = 0
    reasoning_tokens: int = 0
    reasoning_s: float | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    waited_s: float | None = None
    ttft_s: float | None = None
    prefill_tok_s: float | None = None
    decode_tok_s: float | None = None
    live_tok_s: float | None = None
    tpot_ms: float | None = None
    latency_s: float | None = None
    verify_steps: int | None = None
    accepted_drafts: int | None = None
    proposed_drafts: int | None = None
    accept_length: float | None = None
    live_accept_length: float | None = None
    draft_length: int | None = None
    accepted_histogram: tuple[int, ...] | None = None
    finish: str | None = None
    cold: bool = False


@dataclass(frozen=True)
class Counters:
    """What the meters counted since the engine came up, over all answers. `tokens`: ids emitted. `proposed_drafts`:
    None where the engine does not tell."""

    tokens: int = 0
    verify_steps: int = 0
    accepted_drafts: int = 0
    proposed_drafts: int | None = None
    accept_length: float | None = None
    draft_length: int | None = None
