"""What an optimization is: what it sets, what it needs, how it is proven, what its badge says.

Each lives in one file beside this one and is listed in `table.py`. A fourth is one more file and one more row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from spark_chat.meters.numbers import Counters as Counters

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Proof
    from spark_chat.machine import Machine
    from spark_chat.settings.schema import Settings


class State(Enum):
    """What runs. The mark tells them apart without colour. STARTING: not seen at work yet, and nothing is wrong."""

    ACTIVE = "ACTIVE"
    OFF = "OFF"
    UNAVAILABLE = "UNAVAILABLE"
    FAILED = "FAILED"
    STARTING = "STARTING"
    WAITING = "WAITING"
    """No engine was started yet: its model is still to come, or could not be had."""

    @property
    def mark(self) -> str:
        return {"ACTIVE": "●", "OFF": "○", "UNAVAILABLE": "–", "FAILED": "✗", "STARTING": "…", "WAITING": "·"}[
            self.value
        ]


@dataclass(frozen=True)
class Published:
    """A figure somebody published: shown as theirs, with its source, never as measured here."""

    figure: str
    source: str


@dataclass(frozen=True)
class Badge:
    """What is shown of one optimization. `pending`: what the saved setting will make of it at restart, or None."""

    name: str
    label: str
    state: State
    requested: bool
    reason: str = ""
    warning: str = ""
    word: str = ""
    """What it reads in place of its state's word, where that says more."""
    pending: str | None = None
    proof: Mapping[str, Any] = field(default_factory=dict)
    counters: Mapping[str, Any] = field(default_factory=dict)

    def with_pending(self, saved: bool) -> Badge:
        """Marked where the saved setting differs from what was asked for at this start."""
        return replace(self, pending=None if saved == self.requested else f"{'on' if saved else 'off'} at restart")


class Optimization(Protocol):
    """One optimization. Pure: no I/O, no clock, no engine."""

    name: str
    """Key under `optimizations.` in the settings, and in proofs."""
    label: str
    costs: str
    gains: str
    published: tuple[Published, ...]

    def unavailable(self, engine: str, machine: Machine) -> str | None:
        """Why it can't run on this engine and machine, in words; None where it can."""
        ...

    def configure(self, engine: str, settings: Settings, machine: Machine) -> tuple[dict[str, Any], dict[str, str]]:
        """Engine arguments and environment for the worker, whether it is on or off (off means off)."""
        ...

    def judge(self, requested: bool, unavailable: str | None, proof: Proof | None) -> Badge:
        """The badge once the engine is up. Never ACTIVE without `proof.active`."""
        ...

    def watch(self, badge: Badge, counters: Counters) -> Badge:
        """The badge as the counters go on: its warning and counters, its state where a counter proves otherwise."""
        ...
