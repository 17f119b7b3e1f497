"""The real worker with the real small model."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from spark_chat.engine.protocol import Done, Ready, Statistics, Stats
from tests.engine.probe import Probe, ask, recipe

pytestmark = pytest.mark.model


async def test_answers_and_leaves_no_process(model: Path, home: Path) -> None:
    async with Probe() as probe:
        ready = await probe.start(recipe(model))
        assert isinstance(ready, Ready)
        pid = probe.client.pid
        assert pid is not None and probe.client.alive
        deltas, done = await probe.answer(ask("a", "Say hi.", max_tokens=16))
        assert isinstance(done, Done)
        assert "".join(delta.text for delta in deltas).strip()
        assert [delta.tokens for delta in deltas] == sorted(delta.tokens for delta in deltas)
        probe.client.send(Stats())
        statistics = await probe.until(lambda event: isinstance(event, Statistics))
        assert statistics.memory_bytes > 50_000_000
    assert not probe.client.alive
    assert not psutil.pid_exists(pid)
    assert not probe.client.log_path or probe.client.log_end()
