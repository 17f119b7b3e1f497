"""How every badge is judged: what the engine saw decides, never what was asked for.

The rules, first match wins:
1. It can't run here, or the engine found nothing in the model that it could work on: UNAVAILABLE with the reason,
   asked for or not; but seen at work all the same, FAILED.
2. Asked for and seen at work: ACTIVE; set up but with its first draft to come: STARTING, until that was counted.
   Asked for and not seen: FAILED with the reason.
3. Not asked for and seen at work: FAILED, since off means off. Not asked for and not seen: OFF.
"""

from __future__ import annotations

from typing import Any

from spark_chat.engine.protocol import Proof
from spark_chat.optimizations.optimization import Badge, State


def facts(proof: Proof | None) -> dict[str, Any]:
    """What the proof panel and `check` show of a proof."""
    if proof is None:
        return {}
    shown: dict[str, Any] = {"active": proof.active}
    if proof.kind:
        shown["kind"] = proof.kind
    return {**shown, **proof.facts}


def judged(name: str, label: str, requested: bool, unavailable: str | None, proof: Proof | None) -> Badge:
    """The badge of an engine that is up."""
    seen = proof is not None and proof.active is True
    state, reason = _state(label, requested, unavailable, seen, proof)
    return Badge(name=name, label=label, state=state, requested=requested, reason=reason, proof=facts(proof))


def _state(label: str, requested: bool, unavailable: str | None, seen: bool, proof: Proof | None) -> tuple[State, str]:
    if unavailable is not None:
        if seen:
            return State.FAILED, f"{label} runs although it can't be right here: {unavailable}."
        return State.UNAVAILABLE, unavailable
    if proof is not None and proof.unavailable and not seen:
        return State.UNAVAILABLE, proof.reason
    if requested and seen:
        return State.ACTIVE, proof.reason if proof else ""
    if requested:
        return State.FAILED, _why_not(label, proof)
    if seen:
        return State.FAILED, f"{label} was switched off, yet the engine runs it."
    return State.OFF, ""


def _why_not(label: str, proof: Proof | None) -> str:
    if proof is None:
        return f"The engine gave no proof of {label}."
    if proof.reason:
        return proof.reason
    if proof.active is None:
        return f"The engine could not tell whether {label} is at work."
    return f"The engine does not run {label} and gave no reason."


def starting(name: str, label: str, requested: bool, unavailable: str | None) -> Badge:
    """The badge until the engine is up: nothing is known but what can't be."""
    if unavailable is not None:
        return Badge(name=name, label=label, state=State.UNAVAILABLE, requested=requested, reason=unavailable)
    state = State.STARTING if requested else State.OFF
    return Badge(name=name, label=label, state=state, requested=requested)


def not_running(badge: Badge, why: str) -> Badge:
    """The badge of an engine that did not come up or is gone: what was asked for is not there. One that had failed
    before keeps its own reason."""
    if badge.state in (State.UNAVAILABLE, State.FAILED):
        return badge
    state = State.FAILED if badge.requested else State.OFF
    return Badge(
        name=badge.name, label=badge.label, state=state, requested=badge.requested,
        reason=why if badge.requested else "", pending=badge.pending,
    )  # fmt: skip
