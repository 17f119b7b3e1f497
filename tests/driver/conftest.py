"""A driver over a scripted engine."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.driver.rig import Rig


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    yield rig
    await rig.driver.close()
