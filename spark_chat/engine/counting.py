"""Counting tokens on request, with an engine that can: a count is exact, or there is none."""

from __future__ import annotations

import time
import traceback

from spark_chat.engine.interface import Engine
from spark_chat.engine.protocol import Count, Counted


async def counted(engine: Engine | None, command: Count) -> Counted:
    """What the engine counts for `command`. Raises nothing: a failure is a count that is not there."""
    count = getattr(engine, "count", None)
    if count is not None:
        try:
            prompt, texts = await count(command)
            return Counted(id=command.id, prompt_tokens=prompt, text_tokens=texts, time=time.monotonic())
        except Exception:  # a template is a program of the model's, and a count no reason to end an engine
            traceback.print_exc()
    return Counted(id=command.id, time=time.monotonic())
