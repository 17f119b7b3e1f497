"""The tour: shown once, at the first start, never in the way of what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_chat import locations
from spark_chat.settings import toured
from spark_chat.settings.schema import Settings
from spark_chat.settings.state import State, load_state, save_state
from spark_chat.tui import tour
from spark_chat.tui.widgets.header import Title, title_text
from tests.tui.sitting import sitting

pytestmark = pytest.mark.usefixtures("home")


async def test_four_steps_at_the_first_start_while_typing_goes_on_and_never_again() -> None:
    async with sitting("ui.tour=true") as chat:
        await chat.until(lambda: "tour" in chat.notices)
        for number in range(1, tour.STEPS + 1):
            await chat.until(lambda number=number: f"{number} of 4" in chat.screen_text())  # type: ignore[misc]
            assert chat.app.chat.composer.prompt.has_focus
            await chat.type(f"w{number} ")
            await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "tour" not in chat.notices)
        assert chat.app.chat.composer.text == "w1 w2 w3 w4 "
    async with sitting("ui.tour=true") as chat:
        await chat.until(lambda: "spark-light" in chat.app.available_themes)
        await chat.pilot.pause()
        assert "tour" not in chat.notices
        chat.app.run_command("tour")
        await chat.until(lambda: "1 of 4" in chat.screen_text())
        await chat.pilot.press("escape")
        await chat.until(lambda: "tour" not in chat.notices)


async def test_it_can_be_switched_off_and_sending_needs_no_end_of_it() -> None:
    async with sitting("ui.tour=false") as chat:
        await chat.until(lambda: "spark-light" in chat.app.available_themes)
        assert "tour" not in chat.notices
    async with sitting("ui.tour=true") as chat:
        await chat.until(lambda: "tour" in chat.notices)
        await chat.send("hello")
        assert chat.engine.asked


async def test_the_steps_name_the_person_s_own_keys() -> None:
    async with sitting("keys.palette=alt+p", "keys.go=alt+g") as chat:
        chat.app.run_command("tour")
        await chat.until(lambda: "alt+g next" in chat.screen_text())
        await chat.pilot.press("alt+g", "alt+g")
        await chat.until(lambda: "alt+p has every command" in chat.screen_text())


def test_it_is_noted_beside_the_last_configuration_and_outlives_it() -> None:
    path = locations.state_file()
    assert not toured.shown()
    save_state(State.of(Settings(), "llama.cpp", "small", {"start": 1.0}))
    assert not toured.shown()
    before = load_state()
    toured.note()
    assert toured.shown() and load_state() == before
    save_state(State.of(Settings(), "llama.cpp", "other", {}))
    assert toured.shown() and load_state().model == "other"
    path.unlink()
    toured.note()
    assert toured.shown() and load_state() == State()


def test_a_broken_state_file_brings_it_up_at_no_start(home: Path) -> None:
    path = locations.state_file()
    path.parent.mkdir(parents=True)
    path.write_text("tour_shown = ")
    assert toured.shown()
    toured.note()
    assert path.read_text() == "tour_shown = "


# ------------------------------------------------------------------ what is not kept


@pytest.mark.parametrize("width", [10, 24, 40, 80])
def test_what_is_not_kept_is_marked_in_every_width(width: int) -> None:
    text = title_text(Title("SmolLM2", "llama.cpp b9999", "CPU", unkept=True), width)
    assert text.plain.startswith("! not kept" if width >= 24 else "!") and text.cell_length <= width


async def test_a_disk_that_takes_nothing_leaves_a_mark_in_the_header(home: Path) -> None:
    data = home / "data"
    data.write_text("a file where the folder should be")
    async with sitting() as chat:
        await chat.send("hello")
        await chat.until(lambda: "! not kept" in chat.screen_text().splitlines()[0])
        chat.app.chat.view.take_down("said")
        await chat.until(lambda: "said" not in chat.notices)
        assert "! not kept" in chat.screen_text().splitlines()[0]


async def test_a_history_that_is_off_by_choice_is_no_fault() -> None:
    async with sitting("ui.history=false") as chat:
        await chat.send("hello")
        await chat.pilot.pause()
        assert "not kept" not in chat.screen_text()
