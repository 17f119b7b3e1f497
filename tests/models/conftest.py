from __future__ import annotations

from pathlib import Path

import pytest

from tests.models import wheels


@pytest.fixture
def index(home: Path, monkeypatch: pytest.MonkeyPatch) -> wheels.Index:
    """An empty local index, and a home of the test's own."""
    return wheels.local(home / "index", monkeypatch)
