"""One setting on the screen: what really runs, and what fits."""

from __future__ import annotations

import pytest

from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.engine.protocol import Ready
from spark_chat.optimizations.optimization import State
from spark_chat.recipe.recipe import ModelRef, Recipe
from spark_chat.settings.schema import rows
from spark_chat.tui.widgets.setting import SettingView, head_text, hints_text, really, row_text
from tests.tui.fake_driver import badges
from tests.tui.sitting import sitting

RUNS = Snapshot(
    phase=Phase.READY,
    recipe=Recipe("llama.cpp", ModelRef("SmolLM2", "/m.gguf"), 8192, {}),
    ready=Ready(engine="llama.cpp", version="1", model="x", context=2048, proofs={}, time=0.0),
    badges=badges(),
)


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("engine.kind", "llama.cpp"), ("engine.model", "SmolLM2"), ("engine.context", "2048"),
        ("optimizations.humming", "unavailable"), ("optimizations.mtp", "on, n-gram"),
        ("optimizations.strict", None), ("sampling.seed", None),
    ],
)  # fmt: skip
def test_what_runs_is_the_engines_word(key: str, shown: str | None) -> None:
    assert really(key, RUNS) == shown


def test_without_an_engine_nothing_runs() -> None:
    assert really("engine.kind", Snapshot(phase=Phase.FAILED)) == "not running"
    assert really("engine.kind", Snapshot(phase=Phase.STARTING)) is None
    assert really("optimizations.mtp", Snapshot(phase=Phase.FAILED, badges=badges(State.FAILED))) == "not running"


def test_columns_and_keys_fold() -> None:
    row = next(row for row in rows() if row.key == "engine.context")
    view = SettingView(row, 4096, 4096, real="2048")
    assert head_text(36).split() == ["value"] and "2048" in row_text(view, 36).plain
    assert head_text(76).split() == ["running", "saved", "default"] and "4096" in row_text(view, 76).plain
    for width in (20, 36, 76):
        assert "esc" in hints_text(width) and len(hints_text(width)) <= width


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("size", [(40, 20), (80, 24)])
async def test_the_keys_stand_on_the_settings_screen(size: tuple[int, int]) -> None:
    async with sitting(size=size) as chat:
        await chat.pilot.press("f2")
        await chat.until(lambda: "settings" in chat.screen_text())
        await chat.until(lambda: chat.screen_text().splitlines()[-1].strip().startswith("enter change"))
        assert chat.screen_text().splitlines()[-1].rstrip().endswith(("esc", "esc back"))
