"""Workers of a scripted engine that outlive their chat, for tests."""

from __future__ import annotations

from typing import Any

import psutil

from spark_chat.engine.protocol import Left, Ready
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests.engine.probe import Probe

FAKE = "tests.engine.fake_worker"

LINGER_S = 60


def fake(linger_s: int = LINGER_S, fresh: bool = False, context: int = 0, **args: Any) -> Recipe:
    return Recipe(
        engine="fake", model=ModelRef("m", "m"), context=context, requested={}, args=args, linger_s=linger_s,
        fresh=fresh,
    )  # fmt: skip


def running(pid: int | None) -> bool:
    try:
        return pid is not None and bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def left_lingering(**more: Any) -> int:
    """A worker that lingers; its process id."""
    async with Probe(FAKE) as probe:
        assert isinstance(await probe.start(fake(**more)), Ready)
        pid = probe.client.pid
        left = await probe.client.leave()
        assert isinstance(left, Left) and left.lingers_s == more.get("linger_s", LINGER_S) and left.others == 0
        assert not probe.client.alive and pid is not None and running(pid)
        return pid
