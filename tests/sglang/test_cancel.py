"""The real SGLang on the CPU, stopped in each stage of its start: nothing of it is left."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import AnyEvent, Failed, Progress, Ready
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests import waiting
from tests.sglang import cpu

START_S, GONE_S = 300, 30
STAGES = ("start", "weights", "caches", "attention", "graphs", "warm-up")


@pytest.fixture
def temporary() -> Iterator[Path]:
    """With a short path: sockets are made below it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def noted(temporary: Path) -> list[Path]:
    """Shared memory that the engine's processes made."""
    names = [name for book in temporary.glob("*/.shared-memory") for name in book.read_text().splitlines()]
    return [Path("/dev/shm") / name for name in names]


def still_there(temporary: Path, shared: list[Path]) -> list[Path]:
    return [path for path in (*temporary.iterdir(), *shared) if path.exists()]


@pytest.mark.parametrize("stage", STAGES)
async def test_stopped_in(
    stage: str, checkpoint: Path, sglang_environment: dict[str, str], home: Path, temporary: Path
) -> None:
    events: asyncio.Queue[AnyEvent] = asyncio.Queue()
    environment = {name: value for name, value in sglang_environment.items() if name != "PYTHONPATH"}
    recipe = Recipe(
        engine="sglang", model=ModelRef("llama", str(checkpoint)), context=512,
        requested={"humming": False, "fp8_head": False, "mtp": False}, args=dict(cpu.ARGS),
        environment=environment | {"TMPDIR": str(temporary)}, options={"evict": True},
    )  # fmt: skip
    client = EngineClient()
    await client.start(recipe, events.put_nowait, home / "engine.log")
    try:
        async with asyncio.timeout(START_S):
            while True:
                event = await events.get()
                assert not isinstance(event, Ready | Failed), event
                if isinstance(event, Progress) and event.stage == stage:
                    break
        assert client.pid is not None
        worker = psutil.Process(client.pid)
        processes = [worker, *worker.children(recursive=True)]
        shared = noted(temporary)
        assert shared or stage == "start"
    finally:
        await client.stop()
    _, alive = psutil.wait_procs(processes, timeout=GONE_S)
    assert alive == []
    await waiting.until(lambda: not still_there(temporary, shared), "its files to be gone", GONE_S)
    while not events.empty():
        assert not isinstance(events.get_nowait(), Ready | Failed), "a start that was stopped says nothing more"
