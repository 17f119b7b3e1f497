"""Help, palette and slash commands say the same: they are made from one table."""

from __future__ import annotations

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from spark_chat.meters.definitions import DEFINITIONS
from spark_chat.tui import commands
from spark_chat.tui.actions import Actions
from spark_chat.tui.screens.help import HelpScreen, help_rows, help_text
from spark_chat.tui.screens.settings import SettingsScreen
from tests.tui.sitting import sitting

pytestmark = pytest.mark.usefixtures("home")


def test_every_command_of_the_table_can_be_done() -> None:
    for command in commands.COMMANDS:
        assert callable(getattr(Actions, f"action_{command.action}")), command.name


def test_help_has_every_command_every_key_and_every_number() -> None:
    text = "\n".join(f"{name} {about}" for _, rows in help_rows() for name, about in rows)
    for command in commands.COMMANDS:
        assert command.usage in text and command.help in text
    for item in DEFINITIONS:
        assert item.text in text


def test_a_key_has_one_name() -> None:
    names = " ".join(name for _, rows in help_rows() for name, _ in rows)
    about = " ".join(text for _, rows in help_rows() for _, text in rows)
    assert not [word for word in ("escape", "pageup", "pagedown") if word in f"{names} {about}"]


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_help_fits_its_width(width: int) -> None:
    assert max(line.cell_length for line in help_text(width).split("\n")) <= max(width, 42)


async def test_help_opens_over_the_chat_and_leaves_what_was_written() -> None:
    async with sitting() as chat:
        await chat.type("draft")
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen) and "Commands" in chat.screen_text())
        await chat.pilot.press("end")
        await chat.until(lambda: "cold" in chat.screen_text())
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.app.chat)
        assert chat.app.chat.composer.text == "draft"


async def test_the_palette_finds_commands_and_does_them() -> None:
    async with sitting() as chat:
        await chat.pilot.press("ctrl+p")
        await chat.until(lambda: isinstance(chat.app.screen, CommandPalette))
        await chat.until(lambda: "/help" in chat.screen_text())
        assert "escape" not in chat.screen_text()
        chat.app.screen.query_one(Input).value = "sett"
        await chat.until(lambda: "/help" not in chat.screen_text() and "/settings" in chat.screen_text())
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, SettingsScreen))


async def test_copy_takes_the_raw_answer_all_or_the_code() -> None:
    async with sitting() as chat:
        await chat.type("/copy")
        await chat.pilot.press("enter")
        await chat.until(lambda: "nothing to copy" in chat.notice("said"))
        await chat.send("q")
        chat.engine.answer("see\n```python\nx = 1\n```\n[/INST]")
        await chat.until(lambda: not chat.app.session.busy)
        for argument, expected in (
            ("", "see\n```python\nx = 1\n```\n[/INST]"),
            ("code", "x = 1\n"),
            ("all", "> q\n\nsee\n```python\nx = 1\n```\n[/INST]"),
        ):
            chat.app.run_command("copy", argument)
            assert chat.app.clipboard == expected


async def test_thinking_is_switched_for_the_next_prompt() -> None:
    async with sitting() as chat:
        await chat.type("/think off")
        await chat.pilot.press("enter")
        await chat.until(lambda: "without reasoning" in chat.notice("said"))
        await chat.send("q")
        assert chat.engine.settings[-1].sampling.thinking is False


async def test_reasoning_folds_and_opens() -> None:
    async with sitting() as chat:
        await chat.send("q")
        chat.engine.piece("", "a hidden thought")
        chat.engine.piece("the answer", reasoning_tokens=12, reasoning_s=1.5)
        chat.engine.done(reasoning_tokens=12, reasoning_s=1.5)
        await chat.until(lambda: "thought 1.50 s · 12 tok" in chat.screen_text())
        assert "a hidden thought" not in chat.screen_text()
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "a hidden thought" in chat.screen_text())


async def test_clear_queue_takes_back_what_waits_and_keeps_it_for_recall() -> None:
    async with sitting() as chat:
        for text in ("one", "two", "three"):
            await chat.send(text)
        await chat.type("/clear-queue")
        await chat.pilot.press("enter")
        await chat.until(lambda: "2 prompts taken back" in chat.notice("said"))
        chat.engine.answer("1")
        await chat.until(lambda: not chat.app.session.busy)
        assert [text for _, turns in chat.engine.asked for text in turns] == ["one"]
        await chat.pilot.press("up")
        assert chat.app.chat.composer.text == "three"
