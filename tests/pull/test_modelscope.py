"""A pull from ModelScope: into its own cache, checked, and taken up again after a kill."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_chat.models.find import find
from spark_chat.pull.pull import PullProblem, Standing, pull
from spark_chat.pull.said import Request
from tests.cli.process import ROOT
from tests.pull.hub import Hub
from tests.pull.modelscope import reached

NAME = "someone/Model-1B"
REQUEST = Request(repository=NAME, hub="modelscope")
FILES = {"config.json": b"{}", "model.safetensors": random.Random(2).randbytes(5_000_000)}


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with reached(home, monkeypatch, NAME, dict(FILES)) as hub:
        yield hub


async def test_it_comes_into_its_own_cache_and_goes_on_after_a_kill(home: Path, hub: Hub) -> None:
    hub.pace = threading.Semaphore(40)
    here = asyncio.Event()
    task = asyncio.create_task(pull(REQUEST, lambda standing: here.set() if standing.here > 200_000 else None))
    await asyncio.wait_for(here.wait(), 30)
    task.cancel()
    await asyncio.wait([task])
    before = hub.sent
    hub.pace.release(10_000)
    seen: list[Standing] = []
    path, checked = await pull(REQUEST, seen.append)
    assert path == home / "ms" / "models" / "someone--Model-1B" / "snapshots" / "master" and checked == 2
    assert {name: (path / name).read_bytes() for name in FILES} == FILES
    assert find(NAME).path == str(path) and seen[-1].here == seen[-1].size
    assert hub.sent - before < len(FILES["model.safetensors"]), "what had come was not sent again"


async def test_content_that_is_not_what_is_listed_and_a_name_that_is_not_there(hub: Hub) -> None:
    hub.lies.add("model.safetensors")
    with pytest.raises(PullProblem, match="its hash differs"):
        await pull(REQUEST, lambda standing: None)
    with pytest.raises(PullProblem, match=r"There is no no/such at 127.0.0.1"):
        await pull(Request(repository="no/such", hub="modelscope"), lambda standing: None)


def test_the_library_takes_what_it_is_tuned_to() -> None:
    said = "from spark_chat.pull.modelscope import tune; tune(); from modelscope_hub import constants as c; "
    said += "print(c.DOWNLOAD_TOTAL_TIMEOUT, c.DOWNLOAD_PARALLELS)"
    known = {**os.environ, "MODELSCOPE_DOWNLOAD_PARALLEL_WORKERS": "8"}
    for own, seconds in ({}, 604_800), ({"MODELSCOPE_DOWNLOAD_TOTAL_TIMEOUT": "60"}, 60):
        done = subprocess.run(
            [sys.executable, "-c", said], cwd=ROOT, env=known | own, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [str(seconds), "1"]
