"""MTP: several tokens drafted ahead and checked in one run of the model.

The drafts come from the model's own multi-token-prediction block. llama.cpp, where the GGUF has none, drafts from
n-grams of the text so far; the badge then says "n-gram", never "MTP".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spark_chat.engine.protocol import Proof
from spark_chat.machine import Machine
from spark_chat.optimizations.judge import judged
from spark_chat.optimizations.optimization import Badge, Counters, Published, State
from spark_chat.optimizations.sources import RECIPE
from spark_chat.settings.schema import Settings

OWN = "MTP"
"""`Proof.kind` where the drafts come from the model's own block."""
NGRAM = "n-gram"
"""`Proof.kind` where they come from the text so far."""

ENOUGH_STEPS = 64
"""Verify steps before anything is said of the accept length."""
USELESS_BELOW = 1.05
"""Accept length under which drafting gives nothing."""
NO_DRAFT = "no draft yet"
"""What the badge reads until the first draft was counted, where only a counter shows it at work."""


class Mtp:
    """Sets speculation. Proven by the draft's class and head at start, then by its counters."""

    name = "mtp"
    label = OWN
    costs = (
        "Each verify step costs more than a plain one: below a break-even accept length it loses. The draft's weights "
        "and its cache take memory."
    )
    gains = "Decode tok/s by up to the accept length, most on code and on text that repeats."
    published: tuple[Published, ...] = (
        Published("accept length 2.68 with the target's head shared, 1.00 without", RECIPE),
        Published("a verify step costs 2.26 times a plain one, which is the break-even accept length", RECIPE),
        Published("37.8 -> 53.9 tok/s on GSM8K prompts, together with Humming and the FP8 head", RECIPE),
    )

    def unavailable(self, engine: str, machine: Machine) -> str | None:
        if engine == "sglang" and machine.gpu is None:
            return "needs an NVIDIA GPU on SGLang"
        return None

    def configure(self, engine: str, settings: Settings, machine: Machine) -> tuple[dict[str, Any], dict[str, str]]:
        if engine != "sglang":
            return {}, {}
        if not settings.optimizations.mtp:
            return {"speculative_algorithm": None}, {}
        steps = settings.optimizations.draft_steps
        length = 3 if isinstance(steps, str) else steps
        arguments: dict[str, Any] = {
            "speculative_algorithm": "NEXTN",
            "speculative_num_steps": length,
            "speculative_eagle_topk": 1,
            "speculative_num_draft_tokens": length + 1,
        }
        if isinstance(steps, str):
            arguments["speculative_adaptive"] = True
        return arguments, {}

    def judge(self, requested: bool, unavailable: str | None, proof: Proof | None) -> Badge:
        kind = proof.kind if proof else ""
        seen = proof is not None and proof.active is True
        # Without a word on what drafts, a running drafter is not called MTP.
        label = kind or ("drafts" if seen else OWN)
        badge = judged(self.name, label, requested, unavailable, proof)
        if badge.state is State.ACTIVE and proof is not None and proof.awaits_draft:
            return replace(badge, state=State.STARTING, word=NO_DRAFT, reason=_none_so_far(label))
        return badge

    def watch(self, badge: Badge, counters: Counters) -> Badge:
        drafted = max(counters.proposed_drafts or 0, counters.accepted_drafts)
        if badge.state is State.OFF and drafted > 0:
            return replace(
                badge, state=State.FAILED, reason=f"Drafting was switched off, yet {drafted:,} drafts were made."
            )
        if badge.state is State.STARTING and badge.proof.get("active") is True and drafted > 0:
            badge = replace(badge, state=State.ACTIVE, word="", reason="")
        waits = badge.state is State.STARTING and badge.word == NO_DRAFT
        if badge.state is not State.ACTIVE and not waits:
            return badge
        badge = replace(badge, counters=_shown(counters), warning="")
        if badge.label == NGRAM:
            return _note_on_ngrams(badge, counters)
        if counters.tokens >= ENOUGH_STEPS and counters.verify_steps == 0:
            return replace(
                badge, state=State.FAILED, word="",
                reason=f"{counters.tokens:,} tokens came and not one verify step ran: nothing is drafted.",
            )  # fmt: skip
        if counters.verify_steps < ENOUGH_STEPS:
            return badge
        if counters.proposed_drafts == 0 and counters.accepted_drafts == 0:
            return replace(
                badge, state=State.FAILED, word="",
                reason=f"Not one draft was made in {counters.verify_steps:,} verify steps.",
            )  # fmt: skip
        if counters.accept_length is not None and counters.accept_length < USELESS_BELOW:
            return replace(badge, warning=_useless(counters.accept_length, counters.verify_steps))
        return badge


def _useless(accept_length: float, steps: int) -> str:
    return (
        f"Accept length is {accept_length:.2f} over {steps:,} verify steps: the model refuses nearly every draft, so "
        "drafting costs time and gives nothing. The likely cause is a draft that does not use the target's head. "
        "Look at the proof here, or switch MTP off."
    )


def _none_so_far(label: str) -> str:
    if label == NGRAM:
        return "It is set up, and no draft was made so far: nothing repeats yet."
    return "It is set up, and no draft was made so far: the first answer shows it at work."


def _note_on_ngrams(badge: Badge, counters: Counters) -> Badge:
    if not counters.proposed_drafts and not counters.accepted_drafts:
        return replace(badge, reason=_none_so_far(NGRAM))
    little = (
        counters.verify_steps >= ENOUGH_STEPS
        and counters.accept_length is not None
        and counters.accept_length < USELESS_BELOW
    )
    if not little:
        return replace(badge, reason="")
    proposed = "?" if counters.proposed_drafts is None else f"{counters.proposed_drafts:,}"
    return replace(
        badge,
        reason=f"Of {proposed} draft tokens {counters.accepted_drafts:,} held: little repeats in this text. "
        "That is no fault.",
    )


def _shown(counters: Counters) -> dict[str, Any]:
    return {
        "verify_steps": counters.verify_steps,
        "accepted_drafts": counters.accepted_drafts,
        "proposed_drafts": counters.proposed_drafts,
        "accept_length": counters.accept_length,
        "draft_length": counters.draft_length,
    }
