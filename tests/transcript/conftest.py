"""Nothing here waits for a clock."""

from __future__ import annotations

import pytest

from spark_chat.tui.transcript import view


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates come as soon as there is something to show, whatever they cost."""
    monkeypatch.setattr(view, "PERIOD", 0.0)
    monkeypatch.setattr(view.View, "share", 1e9)
