"""What every test may use: a home of its own, and the small model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_chat import locations
from tests import model_file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home folder: no test reads or writes the person's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.delenv("SPARK_CHAT_CONFIG", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # no test asks a hub but one that it runs itself
    locations._folders.cache_clear()
    yield tmp_path
    locations._folders.cache_clear()


@pytest.fixture(scope="session")
def model() -> Path:
    """The small model's file; fetched where it is nowhere yet."""
    return model_file.find()
