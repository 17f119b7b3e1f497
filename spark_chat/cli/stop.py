"""`spark-chat stop`: end the engine that lingers, or that a chat holds, and give its memory back."""

from __future__ import annotations

import asyncio

import click

from spark_chat.cli.lazy import FAILED
from spark_chat.cli.options import narrate, write


@click.command("stop", short_help="End the engine that stays after a chat, and free its memory.")
@click.option("--force", is_flag=True, help="Also while a chat uses it; its answer is cut off, the chat stays.")
def command(force: bool) -> int:
    """End the engine that runs, and wait until it is gone. While others use it, it says who, and only --force ends it.

    Exit code: 0 there is none any more, or was none; 1 it still runs.
    """
    return asyncio.run(_stop(force))


async def _stop(force: bool) -> int:
    from spark_chat.engine import lock, visit
    from spark_chat.meters.units import size

    standing, holder = await visit.standing(), lock.holder()
    if standing is None and holder is None:
        write("No engine runs.")
        return 0
    refusal = await visit.stop(force)
    if refusal is not None:
        narrate(refusal.what)
        narrate("`spark-chat stop --force` ends it all the same.")
        return FAILED
    if lock.holder() is not None:
        narrate("The engine did not end yet." + ("" if force else " `spark-chat stop --force` kills it."))
        return FAILED
    freed = f", and {size(standing.memory_bytes)} are free again" if standing and standing.memory_bytes else ""
    write(f"{_named(standing, holder)} was ended{freed}.")
    return 0


def _named(standing: object, holder: object) -> str:
    from spark_chat.engine.lock import Holder
    from spark_chat.engine.protocol import Standing
    from spark_chat.engine.refusals import base

    if isinstance(standing, Standing):
        return f"{standing.engine} with {base(standing.model)} (pid {standing.pid})"
    if isinstance(holder, Holder) and holder.pid:
        return f"The engine with {base(holder.model)} (pid {holder.pid})"
    return "The engine"
