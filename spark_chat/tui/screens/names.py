"""What runs, by name, as the header has it."""

from __future__ import annotations

from spark_chat.driver.lingering import lasting
from spark_chat.driver.snapshot import Phase, Snapshot


def no_model(phase: Phase) -> str:
    """What stands for the model's name while none is known: that there is none is only sure once it was looked for."""
    return "starting" if phase in (Phase.IDLE, Phase.STARTING) else "no model yet"


def engine_name(snapshot: Snapshot) -> str:
    """`llama.cpp b1234`, `SGLang 0.5.23`."""
    names = {"sglang": "SGLang"}
    if snapshot.ready:
        name = f"{names.get(snapshot.ready.engine, snapshot.ready.engine)} {snapshot.ready.version}".strip()
        past = snapshot.ready.past
        return f"{name}, taken over after {lasting(past.age_s)}" if past is not None else name
    return names.get(snapshot.recipe.engine, snapshot.recipe.engine) if snapshot.recipe else ""
