"""Nothing here waits for a clock."""

from __future__ import annotations

import pytest

from spark_chat.tui.transcript import pulse


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates come as soon as there is something to show, whatever they cost."""
    monkeypatch.setattr(pulse, "PERIOD", 0.0)
    monkeypatch.setattr(pulse, "SHARE", 1e9)
