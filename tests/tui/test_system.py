"""The system prompt of a conversation: chosen by name, sent, kept with the conversation, and brought back with it."""

from __future__ import annotations

import pytest

from spark_chat import locations
from spark_chat.prompts.library import load
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


async def command(chat: Sitting, text: str) -> None:
    chat.app.chat.composer.set_text(text)
    await chat.pilot.press("enter")


def first(chat: Sitting) -> str:
    """The first turn of what was asked last."""
    return chat.engine.asked[-1][1][0]


async def test_it_is_said_first_from_the_next_prompt_on_and_only_here() -> None:
    brief = load().systems["brief"].text
    async with sitting("sampling.system_prompt=From the settings.") as chat:
        await chat.send("one")
        chat.engine.answer("1")
        await chat.until(lambda: not chat.app.session.busy)
        assert first(chat) == "From the settings."
        await command(chat, "/system brief")
        await chat.until(lambda: "of this conversation is brief" in chat.notice("said"))
        await chat.send("two")
        assert chat.engine.asked[-1][1] == [brief, "one", "1", "two"]
        assert chat.engine.settings[-1].sampling.system_prompt == brief, "kept with the answer, as what it depended on"
        chat.engine.answer("2")
        await chat.until(lambda: not chat.app.session.busy)
        chat.app.run_command("new")
        await chat.until(lambda: not chat.app.session.conversation.exchanges)
        await chat.send("three")
        assert first(chat) == "From the settings."


async def test_none_says_nothing_even_where_the_settings_do_and_auto_goes_back() -> None:
    async with sitting("sampling.system_prompt=From the settings.") as chat:
        await command(chat, "/system none")
        await chat.until(lambda: "no system prompt in this conversation" in chat.notice("said"))
        await chat.send("one")
        assert first(chat) == "one" and chat.engine.settings[-1].sampling.system_prompt == ""
        chat.engine.answer("1")
        await chat.until(lambda: not chat.app.session.busy)
        await command(chat, "/system auto")
        await chat.until(lambda: "that of the settings" in chat.notice("said"))
        await chat.send("two")
        assert first(chat) == "From the settings."


async def test_an_unknown_one_is_a_sentence_and_without_a_name_they_are_listed() -> None:
    async with sitting(size=(100, 30)) as chat:
        await command(chat, "/system turtor")
        await chat.until(lambda: "Did you mean tutor?" in chat.notice("said"))
        await command(chat, "/system")
        await chat.until(lambda: "▸ brief" in chat.screen_text() and "auto" in chat.screen_text())
        assert "There is no system prompt" in chat.notice("said")


async def test_it_is_kept_with_the_conversation_and_not_with_the_file() -> None:
    folder = locations.own_prompts("system")
    folder.mkdir(parents=True)
    (folder / "pirate.md").write_text("Arr.")
    async with sitting() as chat:
        await command(chat, "/system pirate")
        await chat.until(lambda: "is pirate" in chat.notice("said"))
        await chat.send("one")
        chat.engine.answer("1")
        await chat.until(lambda: not chat.app.session.busy)
        id = chat.app.session.conversation.id
    (folder / "pirate.md").write_text("Something else.")
    async with sitting() as chat:
        await chat.app.desk.resume(id)
        await chat.until(lambda: len(chat.app.session.conversation.exchanges) == 1)
        await chat.send("two")
        assert chat.engine.asked[-1][1] == ["Arr.", "one", "1", "two"]
        assert chat.app.session.conversation.system_name == "pirate"
