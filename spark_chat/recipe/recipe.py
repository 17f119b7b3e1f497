"""What settings come to on this machine: which engine, which model, which arguments, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spark_chat.engine.model_path import on_the_wire
from spark_chat.engine.protocol import Load


@dataclass(frozen=True)
class ModelRef:
    """A model on disk. `path` is a file or a folder; `name` is what a person reads (never an absolute path)."""

    name: str
    path: str


@dataclass(frozen=True)
class Recipe:
    """Everything a worker needs, and what a person may ask about it.

    `requested`: optimization name -> asked for in the settings. `unavailable`: name -> why it can't run here,
    known before anything loads. `environment`: set for the worker's process. `linger_s`: seconds that the engine
    outlives its last client. `fresh`: only an engine of its own will do, none that runs already. `aside`: it has no
    weights, and may run beside another engine. `notes`: sentences on choices made ("engine.kind = auto chose llama.cpp:
    no NVIDIA GPU was found"). `memory_floor`: bytes that must be available before a start, None where the estimate
    decides, 0 for none.
    """

    engine: str
    model: ModelRef
    context: int
    requested: dict[str, bool]
    unavailable: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    args: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    linger_s: int = 0
    fresh: bool = False
    aside: bool = False
    strict: bool = False
    notes: tuple[str, ...] = ()
    memory_floor: int | None = None

    def load(self) -> Load:
        """The worker's first command."""
        wanted = {name: on and name not in self.unavailable for name, on in self.requested.items()}
        return Load(
            engine=self.engine, model=on_the_wire(self.model.path), context=self.context, optimizations=wanted,
            options=self.options, args=self.args, aside=self.aside,
        )  # fmt: skip
