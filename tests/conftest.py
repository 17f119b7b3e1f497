"""What every test may use: a home of its own, the small model, a folder on a disk."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import psutil
import pytest

from spark_chat import locations
from tests import model_file

hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")
"""An example that took 200 ms says that the machine was busy, and nothing else."""
_OWN = tempfile.TemporaryDirectory(prefix="spark-chat-tests-", ignore_cleanup_errors=True)
os.environ["XDG_RUNTIME_DIR"] = _OWN.name
for _name in ("CONFIG", "DATA", "STATE"):
    os.environ[f"XDG_{_name}_HOME"] = str(Path(_OWN.name) / _name.lower())
"""No test finds the person's own engine, settings or history, also one without a `home`."""

signal.signal(signal.SIGINT, signal.default_int_handler)
"""A suite run in the background of a script ignores ctrl+c, and what it starts would too."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home folder: no test reads or writes the person's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.delenv("SPARK_CHAT_CONFIG", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # no test asks a hub but one that it runs itself
    locations._folders.cache_clear()
    yield tmp_path
    locations._folders.cache_clear()


def _in_memory(folder: Path) -> bool:
    mounts = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
    place = next(str(one) for one in [folder, *folder.parents] if str(one) in mounts)
    return mounts[place] in ("tmpfs", "ramfs")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a real disk: what lies in memory alone has no page cache to give back."""
    for place in (tmp_path, Path("/var/tmp")):
        if not _in_memory(place.resolve()):
            with tempfile.TemporaryDirectory(dir=place) as folder:
                yield Path(folder)
            return
    pytest.skip("no folder here is on a disk")


@pytest.fixture(scope="session")
def model() -> Path:
    """The small model's file; fetched where it is nowhere yet."""
    return model_file.find()
