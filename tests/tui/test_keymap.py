"""Keys from the settings file: they work at once, and every hint names them."""

from __future__ import annotations

import pytest
from textual.command import CommandPalette

from spark_chat import locations
from spark_chat.settings.keys import ACTIONS, split
from spark_chat.settings.schema import Settings
from spark_chat.tui import commands, keymap
from spark_chat.tui.screens.chat import HANDLED_BY_QUITTING
from spark_chat.tui.screens.help import HelpScreen, help_rows
from spark_chat.tui.screens.settings import SettingsScreen
from tests.tui.sitting import sitting

pytestmark = pytest.mark.usefixtures("home")


def test_every_command_has_its_row_in_the_settings_with_the_same_keys() -> None:
    for command in commands.COMMANDS:
        keys = tuple(key for key in command.keys if key not in HANDLED_BY_QUITTING)
        if keys or not command.keys:
            assert split(ACTIONS.get(keymap.action_of(command.name), "-")) == keys, (
                f"settings/keys.py: {command.name} must be there with {keys}"
            )


def test_no_action_is_without_a_command() -> None:
    names = {keymap.action_of(command.name) for command in commands.COMMANDS}
    assert {action for action in ACTIONS if not action.startswith("scroll_")} - names == {"palette"}


async def test_keys_from_the_settings_work_and_are_named_everywhere() -> None:
    sets = ("keys.help=f2", "keys.settings=alt+s,f10", "keys.palette=alt+p", "keys.restart=f11", "keys.go=")
    async with sitting(*sets, ready=False, size=(100, 30)) as chat:
        assert "alt+p commands" in chat.screen_text()
        chat.engine.fail("It died.")
        await chat.until(lambda: "f11 start again" in chat.screen_text() and "alt+s settings" in chat.screen_text())
        await chat.pilot.press("f2")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        text = "\n".join(name for _, rows in help_rows() for name, _ in rows)
        assert "/help  f2" in text and "/settings  alt+s, f10" in text and "alt+p" in text and "/go\n" in text
        await chat.pilot.press("f2")
        await chat.until(lambda: chat.app.screen is chat.app.chat)
        await chat.pilot.press("f10")
        await chat.until(lambda: isinstance(chat.app.screen, SettingsScreen))
        await chat.until(lambda: "f11 restart engine" in chat.screen_text())
        await chat.pilot.press("f11")
        await chat.until(lambda: len(chat.engine.started) == 2)
        await chat.pilot.press("f1")
        await chat.pilot.pause()
        assert chat.app.screen is chat.app.chat, "f1 is nobody's now"
        await chat.pilot.press("alt+p")
        await chat.until(lambda: isinstance(chat.app.screen, CommandPalette))
        await chat.type("settings")
        await chat.until(lambda: "/settings  (alt+s, f10)" in chat.screen_text())


async def test_a_key_for_a_command_that_has_none() -> None:
    async with sitting("keys.think=alt+t") as chat:
        await chat.pilot.press("alt+t")
        await chat.until(lambda: "without reasoning" in chat.notice("said"))


async def test_a_key_saved_while_the_chat_runs_works_at_once_and_a_bad_one_is_named() -> None:
    file = locations.settings_file()
    async with sitting() as chat:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('[keys]\nhelp = "alt+h"\n')
        chat.app.look_at_settings()
        await chat.pilot.press("alt+h")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.app.chat)
        file.write_text('[keys]\nhelp = "ctrl+c"\n')
        chat.app.look_at_settings()
        await chat.until(lambda: "keys.help" in chat.notice("problems") and str(file) in chat.notice("problems"))
        await chat.pilot.press("alt+h")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))


def test_an_action_without_a_key_is_named_by_its_command() -> None:
    settings = Settings()
    try:
        keymap.use(Settings(keys=type(settings.keys)(go="")))
        assert keymap.key("go") == "/go" and keymap.key("esc") == "esc"
    finally:
        keymap.use(settings)
    assert keymap.key("go") == "ctrl+g"
