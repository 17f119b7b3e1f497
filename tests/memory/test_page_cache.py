"""Pages of a real file, seen by mincore: what is given back and what is not."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from spark_chat.memory import page_cache

SIZE = 8 * 1024 * 1024


@pytest.fixture
def file(disk: Path) -> Path:
    path = disk / "model-00001-of-00001.safetensors"
    with path.open("wb") as out:
        out.write(os.urandom(SIZE))
        os.fsync(out.fileno())
    return path


def test_clean_pages_are_given_back_and_the_content_stays(file: Path, disk: Path) -> None:
    content = file.read_bytes()
    assert page_cache.resident(file) == SIZE
    assert page_cache.evict([file, disk / "gone"]) == 1
    assert page_cache.resident(file) == 0
    assert file.read_bytes() == content


def test_pages_that_are_mapped_stay_until_they_are_not(file: Path) -> None:
    page_cache.evict([file])
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[at] for at in range(0, SIZE, mmap.PAGESIZE)) > 0
        page_cache.evict([file])
        assert page_cache.resident(file) == SIZE, "a loader that has it mapped goes on undisturbed"
    page_cache.evict([file])
    assert page_cache.resident(file) == 0


def test_small_and_empty_files(disk: Path) -> None:
    (disk / "empty").write_bytes(b"")
    (disk / "small").write_bytes(b"x")
    assert page_cache.resident(disk / "empty") == 0
    assert page_cache.resident(disk / "small") == mmap.PAGESIZE
    with pytest.raises(OSError):
        page_cache.resident(disk / "gone")
