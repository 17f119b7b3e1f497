"""What is said of an engine's process that ended by itself, or that could not be started."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence

from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.last_words import last_words
from spark_chat.engine.protocol import Failed


def of_worker(code: int | None, log_end: Sequence[str]) -> Failed:
    """The end of one that nobody here stopped. `code`: its exit code, negative for a signal's number; None for one that
    another window had spawned."""
    if code is None:
        how = "It was started by another window, and was stopped or ended there."
    elif code < 0:
        how = f"It was ended by signal {-code} ({_signal_name(-code)})."
        if -code == signal.SIGKILL:
            how += " That is also how the system ends a process when memory runs out."
    else:
        how = f"Its exit code was {code}."
    return Failed(
        code="died",
        what="The engine's process has ended.",
        why=how + last_words(log_end),
        remedy="Restart the engine; the conversation is kept.",
        facts={"exit_code": code},
        time=time.monotonic(),
    )


def before_start(error: Exception) -> Failed:
    """Nothing was started: it was refused, or the system would not."""
    if isinstance(error, EngineFailure):
        return error.told(time.monotonic())
    why = getattr(error, "strerror", "") or str(error)
    return Failed(
        code="load", what="The engine's process could not be started.", why=why,
        remedy="Free memory or disk space, then start the engine again.", time=time.monotonic(),
    )  # fmt: skip


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
