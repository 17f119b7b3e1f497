"""Which engine and model fit this machine, and what is to be fetched and built for them: for a first run. Pure.

No hub is asked for it: the sizes are the published ones, until the person says yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_chat.machine import Machine
from spark_chat.meters.units import size
from spark_chat.prepare.plan import Task, took
from spark_chat.recipe.memory_floor import SPARK_FLOOR

GB = 1e9
RATES = (100, 10)
"""MB/s at which the time of a download is told, since that of the line is not known before."""
SPARE = 500_000_000
"""Bytes of disk that a pull leaves free."""


@dataclass(frozen=True)
class Suited:
    """A model that a machine may be set up for. `download`: bytes to fetch. `memory`: bytes to start with."""

    name: str
    download: int
    memory: int

    @property
    def short(self) -> str:
        return self.name.rpartition("/")[2]


LING = Suited("inclusionAI/Ling-3.0-flash-fp4", 66_000_000_000, SPARK_FLOOR)


@dataclass(frozen=True)
class Facts:
    """What was looked up. Bytes: `memory` that a model may take in all (a GPU's own where it has its own), `disk` free
    where the download goes, `fetched` of it that are there. `obstacle`: what is in the way, the end of a sentence, and
    `way`: what to do about it; empty where nothing is. `path`: the model, where it is here and whole. `kernels`: what
    is left to build for it, None where that is not known yet. `small`: the model that answers meanwhile."""

    machine: Machine
    memory: int
    disk: int
    obstacle: str = ""
    way: str = ""
    fetched: int = 0
    path: str = ""
    kernels: Sequence[Task] | None = None
    small: str = "the small model"


@dataclass(frozen=True)
class Fit:
    """`title` and `body`: sentences for a person, the weightiest first. `offers`: one key may go on from here."""

    title: str
    body: tuple[str, ...]
    offers: bool = False
    model: Suited = LING


def fit(facts: Facts, model: Suited = LING) -> Fit:
    """What fits the machine of `facts`."""
    machine = facts.machine
    if machine.gpu is None:
        return Fit(
            f"No NVIDIA GPU here: llama.cpp runs on {_cores(machine.cores)}, with {size(machine.memory_bytes)}.",
            ("`spark-chat pull OWNER/NAME` brings larger .gguf models; esc closes this.",),
        )
    here = "This DGX Spark" if machine.spark else f"This machine's {_short(machine.gpu.name)}"
    if facts.memory < model.memory:
        return Fit(
            f"{here} has {size(facts.memory)}, too few for {model.short}, which needs {size(model.memory)}.",
            (f"{facts.small} answers; `spark-chat pull OWNER/NAME` brings one that fits. esc closes this.",),
        )
    if facts.obstacle:
        title = f"{here} fits {model.short} on SGLang, but {facts.obstacle}."
        return Fit(title, (facts.way, f"{facts.small} answers meanwhile."))
    title = f"{here} fits {model.short} on SGLang."
    if facts.path:
        built = "its kernels are built" if facts.kernels == () else f"its start builds kernels first, {_took(facts)}"
        return Fit(title, (f"The model is here, and {built}.", _machine(facts, model)), False, model)
    return Fit(title, tuple(_work(facts, model)), True, model)


def _work(facts: Facts, model: Suited) -> list[str]:
    left = max(0, model.download - facts.fetched)
    there = f" ({facts.fetched / GB:.1f} GB are here)" if facts.fetched else ""
    found = [f"To fetch: {left / GB:.1f} GB{there}, {_times(left)}."]
    if facts.disk < left + SPARE:
        found.append(f"Only {facts.disk / GB:.1f} GB of disk are free: free some, or set HF_HOME to a larger disk.")
    found.append(f"To build: its kernels, {_took(facts)}, once a version.")
    found.append(_machine(facts, model))
    found.append(f"{facts.small} answers meanwhile. Each step can be stopped and taken up again; /setup shows this.")
    return found


def _took(facts: Facts) -> str:
    return took(facts.kernels or ())


def _machine(facts: Facts, model: Suited) -> str:
    machine = facts.machine
    shared = " shared by CPU and GPU" if machine.spark else " of its own"
    gpu = _short(machine.gpu.name) if machine.gpu else ""
    return f"{gpu}, {size(facts.memory)}{shared}, {_cores(machine.cores)}; it needs {size(model.memory)}."


def _times(left: int) -> str:
    return " or ".join(f"{_minutes(left / (rate * 1e6))} at {rate} MB/s" for rate in RATES)


def _minutes(amount: float) -> str:
    minutes = max(1, round(amount / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def _short(name: str) -> str:
    return name.removeprefix("NVIDIA ")


def _cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"
