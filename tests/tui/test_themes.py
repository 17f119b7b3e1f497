"""A person's own theme, edited while the chat runs: the look follows the file, and a broken one changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.theme import BUILTIN_THEMES

from spark_chat import locations
from spark_chat.tui.composer.completion import Completion
from spark_chat.tui.themes import load, meant, ordered
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")

DUSK = 'base = "spark-dark"\nbackground = "{ground}"\n'


def save(text: str, name: str = "dusk") -> Path:
    """As editors do: a new file in the old one's place."""
    folder = locations.own_themes()
    folder.mkdir(parents=True, exist_ok=True)
    fresh, path = folder / "fresh~", folder / f"{name}.toml"
    fresh.write_text(text)
    os.replace(fresh, path)  # noqa: PTH105
    return path


def ground(chat: Sitting) -> str:
    return str(chat.app.screen.styles.background.hex).lower()


async def test_ours_are_offered_first_and_the_one_in_use_is_marked() -> None:
    async with sitting() as chat:
        await chat.until(lambda: "spark-light" in chat.app.available_themes)
        await chat.type("/theme light")
        completion = chat.app.chat.composer.query_one(Completion)
        await chat.until(lambda: completion.chosen is not None and completion.chosen.text == "spark-light")
        await chat.pilot.press("enter")
        await chat.until(lambda: "There is no theme light. Did you mean spark-light?" in chat.screen_text())
        await chat.pilot.press("ctrl+u")
        await chat.type("/theme spark-da")
        await chat.until(lambda: "in use" in chat.screen_text())
        await chat.pilot.press("ctrl+u")
        chat.app.run_command("theme")
        await chat.until(lambda: "spark-dark  (in use)" in chat.screen_text() and "spark-light" in chat.screen_text())
        assert chat.screen_text().count("in use") == 1
        await chat.pilot.press(*"light")
        await chat.until(lambda: "spark-dark" not in chat.screen_text() and "spark-light" in chat.screen_text())
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.theme == "spark-light")
        chat.app.run_command("theme")
        await chat.until(lambda: "spark-light  (in use)" in chat.screen_text())


def test_the_order_of_themes_and_the_one_that_is_meant() -> None:
    themes = {**BUILTIN_THEMES, **load().themes}
    names = ordered(themes)
    assert names[:5] == ["high-contrast", "spark-dark", "spark-light", "spark-ansi-dark", "spark-ansi-light"]
    assert sorted(names) == sorted(themes)
    assert [meant(name, themes) for name in ("light", "Dark", "spark-lihgt", "ansi", "qqqq", "")] == [
        "spark-light", "spark-dark", "spark-light", "spark-ansi-dark", None, None,
    ]  # fmt: skip


async def test_the_look_follows_the_file_and_what_was_written_stays() -> None:
    save(DUSK.format(ground="#201020"))
    async with sitting("ui.theme=dusk") as chat:
        await chat.until(lambda: ground(chat) == "#201020")
        await chat.type("a draft")
        save(DUSK.format(ground="#102030"))
        chat.app.look_at_settings()
        await chat.until(lambda: ground(chat) == "#102030")
        assert chat.app.chat.composer.text == "a draft" and chat.app.theme == "dusk"
        save('base = "spark-light"\nbackground = "#f0f0e0"\n')
        chat.app.look_at_settings()
        await chat.until(lambda: ground(chat) == "#f0f0e0")
        assert chat.app.has_class("-light-mode") and not chat.app.has_class("-dark-mode")


@pytest.mark.parametrize(
    ("text", "says"),
    [(DUSK.format(ground="#12"), "background is '#12'"), ("base = ", "no valid TOML"), ("", "primary has no colour")],
)
async def test_a_broken_file_is_named_and_the_old_look_stays_until_it_is_right_again(text: str, says: str) -> None:
    path = save(DUSK.format(ground="#201020"))
    async with sitting("ui.theme=dusk") as chat:
        await chat.until(lambda: ground(chat) == "#201020")
        save(text)
        chat.app.look_at_settings()
        await chat.until(lambda: says in chat.notice("problems") and str(path) in chat.notice("problems"))
        assert ground(chat) == "#201020"
        save(DUSK.format(ground="#000000"))
        chat.app.look_at_settings()
        await chat.until(lambda: ground(chat) == "#000000" and "problems" not in chat.notices)


async def test_a_new_theme_can_be_chosen_and_one_that_goes_changes_nothing() -> None:
    async with sitting() as chat:
        await chat.until(lambda: "spark-light" in chat.app.available_themes)
        path = save(DUSK.format(ground="#201020"))
        chat.app.look_at_settings()
        await chat.until(lambda: "dusk" in chat.app.available_themes)
        chat.app.run_command("theme", "dusk")
        await chat.until(lambda: ground(chat) == "#201020")
        path.unlink()
        chat.app.look_at_settings()
        await chat.pilot.pause()
        assert ground(chat) == "#201020" and chat.app.is_running


async def test_a_theme_that_was_just_picked_stays_while_it_is_being_saved() -> None:
    async with sitting() as chat:
        save(DUSK.format(ground="#201020"))
        chat.app.look_at_settings()
        await chat.until(lambda: "dusk" in chat.app.available_themes)
        chat.app.theme = "dusk"
        chat.app.add_themes(load())  # all files were read again, and the settings still name the one before
        assert chat.app.theme == "dusk"
        await chat.until(lambda: ground(chat) == "#201020")
