"""An engine that was taken over, or that stays behind, in sentences: the same ones for every front end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Left, Ready

QUEUE = "queue"
"""Stage of the progress that a prompt makes which waits for another window's answer."""


def took_over(ready: Ready | None, fresh: bool = False) -> str:
    """That it was taken over, and how long it had been ready; empty where it was started here. `fresh`: a restart was
    asked for."""
    if ready is None or ready.past is None:
        return ""
    if fresh:
        return "kept the engine as it runs, since another window uses it; `spark-chat stop --force` ends it"
    return f"took over an engine that had been ready for {lasting(ready.past.age_s)}"


def farewell(left: Left | None) -> str:
    """What becomes of the engine that was left; empty where it was stopped."""
    if left is None:
        return ""
    if left.others:
        return "The engine stays: another window uses it."
    return f"The engine stays {lasting(left.lingers_s)} for the next chat; `spark-chat stop` ends it."


def lasting(seconds: float) -> str:
    """A span of time as one says it: 8 seconds, 1 minute, 3 hours."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count} {name}{'' if count == 1 else 's'}"
    count = max(1, round(seconds))
    return f"{count} second{'' if count == 1 else 's'}"
