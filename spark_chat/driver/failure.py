"""From an exception to what a person is told: what happened, why, and what to do."""

from __future__ import annotations

import time

from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.protocol import Failed, ProtocolError
from spark_chat.recipe.problem import RecipeProblem


def of_start(error: Exception) -> Failed:
    """Why the engine could not be started. A fault nobody foresaw is named as one, never shown as a traceback."""
    if isinstance(error, RecipeProblem):
        facts = {"key": error.key} if error.key else {}
        return Failed(code="load", what=error.what, remedy=error.remedy, facts=facts, time=time.monotonic())
    if isinstance(error, EngineFailure):
        return error.told(time.monotonic())
    if isinstance(error, OSError):
        return Failed(
            code="load",
            what="The engine's process could not be started.",
            why=error.strerror or str(error),
            remedy="Free memory or disk space, then start the engine again.",
            time=time.monotonic(),
        )
    return Failed(
        code="load",
        what="The engine could not be started.",
        why=f"{type(error).__name__}: {error}",
        remedy="This is a defect of spark-chat; `spark-chat doctor --report` writes down what helps to mend it.",
        time=time.monotonic(),
    )


def of_prompt(id: str, error: ProtocolError) -> Failed:
    """Why a prompt could not be sent."""
    return Failed(
        id=id, code="request", what="The prompt could not be sent.", why=str(error), remedy="Make it shorter.",
        time=time.monotonic(),
    )  # fmt: skip


def of_strict(wrong: str) -> Failed:
    """optimizations.strict, and a badge is FAILED."""
    return Failed(
        code="load",
        what="The engine was stopped: optimizations.strict is on, and not all runs as it was asked for.",
        why=wrong,
        remedy="Change the setting of what is named, or set optimizations.strict to false.",
        facts={"key": "optimizations.strict"},
        time=time.monotonic(),
    )
