"""Pages of a model's own files while it loads, seen by mincore."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_chat.engine.eviction import Eviction
from spark_chat.memory import page_cache

SIZE = 4 * 1024 * 1024


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        os.sched_yield()


@pytest.fixture
def shards(disk: Path) -> list[Path]:
    found = [disk / f"model-{number:05d}-of-00003.safetensors" for number in (1, 2, 3)]
    for path in found:
        with path.open("wb") as file:
            file.write(os.urandom(SIZE))
            os.fsync(file.fileno())
    return found


def test_files_that_were_read_go_and_the_one_under_way_stays(disk: Path, shards: list[Path]) -> None:
    assert sum(map(page_cache.resident, shards)) == 3 * SIZE, "what writing them left"
    told: list[tuple[str, float | None, str]] = []
    eviction = Eviction(disk, lambda *what: told.append(what), free=lambda: 41 * 1024**3, pause=0.001)
    try:
        until(lambda: sum(map(page_cache.resident, shards)) == 0)
        shards[0].read_bytes()
        with shards[1].open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            assert sum(mapped[at] for at in range(0, SIZE, mmap.PAGESIZE)) > 0
            until(lambda: page_cache.resident(shards[0]) == 0)
            assert page_cache.resident(shards[1]) == SIZE
        until(lambda: page_cache.resident(shards[1]) == 0)
        eviction.report("weights", 0.5, "33 GB of 65 GB read")
        eviction.report("graphs", None, "Capturing")
    finally:
        eviction.close()
    assert told == [("weights", 0.5, "33 GB of 65 GB read; 41.0 GiB free for CUDA"), ("graphs", None, "Capturing")]
    shards[2].read_bytes()
    assert page_cache.resident(shards[2]) == SIZE, "nothing is taken any more"


def test_the_last_sweep_takes_what_the_load_left(disk: Path, shards: list[Path]) -> None:
    eviction = Eviction(disk, lambda *_: None, pause=60)
    for shard in shards:
        shard.read_bytes()
    eviction.close()
    assert sum(map(page_cache.resident, shards)) == 0


def test_a_folder_without_weights_is_no_fault(tmp_path: Path) -> None:
    eviction = Eviction(tmp_path / "gone", lambda *_: None)
    eviction.report("weights", None, "x")
    eviction.close()
