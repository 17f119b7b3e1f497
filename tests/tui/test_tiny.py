"""A field of several lines in a window of no width: Textual's own falls over there."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from spark_chat.tui.widgets.area import Area
from tests.tui.sitting import sitting

pytestmark = pytest.mark.usefixtures("home")


class Field(App[None]):
    CSS = "Area { margin: 0 1; }"

    def compose(self) -> ComposeResult:
        yield Area(placeholder="Paste a prompt here.", compact=True)


async def test_an_empty_field_stands_at_every_width() -> None:
    app = Field()
    async with app.run_test(size=(20, 5)) as pilot:
        for width in (1, 2, 3, 4, 5, 6):
            await pilot.resize_terminal(width, 5)
            await pilot.pause()
            app.query_one(Area).refresh()
            app.query_one(Area).render_line(0)
            await pilot.pause()
        await pilot.press("x")
        assert app.query_one(Area).text == "x"


@pytest.mark.parametrize("width", [2, 4, 5])
async def test_a_check_may_be_asked_for_in_a_window_too_small_for_it(width: int) -> None:
    async with sitting("ui.accessible=true", size=(width, 20)) as chat:
        chat.app.run_command("check")
        await chat.pilot.pause()
        await chat.resize(80, 24)
        assert chat.app.is_running
