"""llama.cpp's part of a recipe: it runs anywhere, and reads what it must know from the GGUF itself."""

from __future__ import annotations

from spark_chat.machine import Machine
from spark_chat.recipe.profile import Profile
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings

GIB = 1024**3


def context_cap(machine: Machine) -> int:
    """The largest context that is taken unasked, tokens: a model may allow more than memory holds caches for."""
    return 32_768 if machine.memory_bytes >= 16 * GIB else 8_192


def profile(settings: Settings, machine: Machine, model: ModelRef) -> Profile:
    """No arguments of its own: threads, batch and drafter are the engine's business."""
    return Profile(
        options={
            "context_cap": context_cap(machine),
            "draft_steps": settings.optimizations.draft_steps,
        }
    )
