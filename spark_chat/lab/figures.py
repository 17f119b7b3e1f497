"""Answers, settings and badges as JSON: one shape for `check` and for the records of the lab."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spark_chat.driver.asking import Run
from spark_chat.engine.protocol import Failed
from spark_chat.optimizations.optimization import Badge
from spark_chat.settings.schema import Settings, rows, value

LEARNED = "n-gram drafts come from earlier answers too: a repeated prompt drafts better than a new one would."
"""Said where a prompt was asked again on the same engine while n-grams drafted."""


def settings_json(settings: Settings) -> dict[str, Any]:
    """The settings that bear on the numbers, by dotted key. Of a model's path only the name."""
    found = {row.key: value(settings, row.key) for row in rows() if not row.key.startswith("ui.")}
    found["engine.model"] = Path(found["engine.model"]).name
    return found


def badge_json(badge: Badge) -> dict[str, Any]:
    """One optimization. `kind`: what drafts, "MTP" or "n-gram", as the engine said; null elsewhere. `proof`: what the
    engine read and what the meters counted."""
    proof = dict(badge.proof)
    if badge.counters:
        proof["counters"] = dict(badge.counters)
    return {
        "requested": badge.requested,
        "state": badge.state.value,
        "kind": badge.proof.get("kind"),
        "pending": badge.pending,
        "reason": badge.warning or badge.reason,
        "proof": proof,
    }


_NOT_ON = {
    "UNAVAILABLE": "is not to be had here", "FAILED": "failed", "OFF": "was off", "WAITING": "was never started",
    "STARTING": "was set up and made no draft in these runs",
}  # fmt: skip


def not_on(name: str, badge: dict[str, Any]) -> str:
    """A sentence on an optimization that was asked for and not seen at work; `badge` as `badge_json` has it."""
    kind = badge.get("kind")
    who = f"{name} ({kind})" if kind and kind.lower() != name else name
    said = f"{who} {_NOT_ON.get(badge['state'], badge['state'].lower())}"
    if badge["state"] == "STARTING":
        return f"{said}: nothing repeats in these texts." if kind == "n-gram" else f"{said}."
    reason = (badge["reason"] or "").strip()
    if not reason:
        return f"{said}."
    first = reason[:1] if reason[1:2].isupper() else reason[:1].lower()
    return f"{said}: {first}{reason[1:]}{'' if reason.endswith(('.', '!', '?')) else '.'}"


def run_json(run: Run) -> dict[str, Any]:
    """One answer."""
    numbers = run.numbers
    return {
        "prompt_tokens": numbers.prompt_tokens,
        "cached_tokens": numbers.cached_tokens,
        "completion_tokens": numbers.tokens,
        "reasoning_tokens": numbers.reasoning_tokens,
        "ttft_s": numbers.ttft_s,
        "tpot_s": None if numbers.tpot_ms is None else numbers.tpot_ms / 1000,
        "latency_s": numbers.latency_s,
        "prefill_tok_s": numbers.prefill_tok_s,
        "decode_tok_s": numbers.decode_tok_s,
        "accept_length": numbers.accept_length,
        "verify_steps": numbers.verify_steps,
        "accepted_drafts": numbers.accepted_drafts,
        "proposed_drafts": numbers.proposed_drafts,
        "accepted_histogram": None if numbers.accepted_histogram is None else list(numbers.accepted_histogram),
        "finish_reason": numbers.finish,
        "cold": numbers.cold,
        "text": run.text,
        "reasoning": run.reasoning,
        "engine_figures": run.engine_figures,
    }


def failure_json(failure: Failed | None) -> dict[str, Any] | None:
    """What happened, why, and what to do."""
    if failure is None:
        return None
    return {
        "code": failure.code, "what": failure.what, "why": failure.why, "remedy": failure.remedy,
        "facts": failure.facts,
    }  # fmt: skip
