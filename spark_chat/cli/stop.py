"""`spark-chat stop`: end the engine that lingers, or that a chat holds, and give its memory back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from spark_chat.cli.lazy import FAILED
from spark_chat.cli.options import narrate, write

if TYPE_CHECKING:
    from spark_chat.memory.have import Have


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
    before = await asyncio.to_thread(_have)
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
    if before is not None:
        await _until_back(before, standing.memory_bytes if standing else 0)
    write(f"{_named(standing, holder)} was ended{freed}.")
    return 0


def _have() -> Have | None:
    """The memory that the next engine would find, of the machine or of the GPU."""
    from spark_chat.machine import machine
    from spark_chat.memory.have import look

    return look("sglang", machine())


async def _until_back(before: Have, held: int) -> None:
    """Until it is back: what the GPU held is not known, so there as long as more comes."""
    from spark_chat.memory.settling import settle

    shared = before.gpu or before.free is not None
    now = await asyncio.to_thread(_have)
    if now is not None:
        await settle(_have, now, before.total if shared else before.available + held // 2)


def _named(standing: object, holder: object) -> str:
    from spark_chat.engine.lock import Holder
    from spark_chat.engine.protocol import Standing
    from spark_chat.engine.refusals import base

    if isinstance(standing, Standing):
        return f"{standing.engine} with {base(standing.model)} (pid {standing.pid})"
    if isinstance(holder, Holder) and holder.pid:
        return f"The engine with {base(holder.model)} (pid {holder.pid})"
    return "The engine"
