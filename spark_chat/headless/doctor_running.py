"""What the doctor says of the engine that runs now: one that lingers after a chat, or that somebody uses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from spark_chat.driver.lingering import lasting
from spark_chat.engine import lock, visit
from spark_chat.engine.protocol import Standing
from spark_chat.engine.refusals import base, named
from spark_chat.headless.finding import Finding, fine, warning
from spark_chat.meters.units import size


def examine() -> Iterator[Finding]:
    """One line."""
    standing, holder = asyncio.run(visit.standing()), lock.holder()
    if standing is not None:
        yield fine("engine", said(standing))
    elif holder is not None:
        text = f"one runs (pid {holder.pid}, {base(holder.model)}) and does not say how it stands."
        yield warning("engine", text, "`spark-chat stop --force` ends it.")
    else:
        yield fine("engine", "none runs.")


def said(standing: Standing) -> str:
    """One sentence, and the way to end an engine that lingers."""
    text = f"{standing.engine} with {base(standing.model)}, pid {standing.pid}, {size(standing.memory_bytes)}"
    if standing.ready_s is None:
        return f"{text}, is starting for {named(standing.people)}."
    text += f", has been ready for {lasting(standing.ready_s)}"
    if standing.lingers_s is not None:
        return f"{text} and stays {lasting(standing.lingers_s)} more; `spark-chat stop` ends it."
    return f"{text} and is used by {named(standing.people)}."
