"""llama.cpp's part of a recipe: it runs anywhere, and reads what it must know from the GGUF itself."""

from __future__ import annotations

from spark_chat.machine import Machine
from spark_chat.recipe.profile import Profile
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings


def profile(settings: Settings, machine: Machine, model: ModelRef) -> Profile:
    """No arguments of its own: threads, context and drafter depend on the GGUF, which only the engine opens."""
    return Profile(options={"draft_steps": settings.optimizations.draft_steps})
