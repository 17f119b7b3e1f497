"""What tests of engines use together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_chat.engine import lock, visit


@pytest.fixture
def nothing_stays(home: Path) -> Iterator[None]:
    yield
    asyncio.run(visit.stop(force=True))
    assert lock.holder() is None
