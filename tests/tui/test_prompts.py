"""Saved prompts in the chat: inserted, filled in where one writes, saved, completed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from spark_chat import locations
from spark_chat.tui.composer.completion import Completion
from spark_chat.tui.composer.prompt import Prompt
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


def own(name: str, text: str) -> Path:
    folder = locations.own_prompts("prompt")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text)
    return folder / f"{name}.md"


async def command(chat: Sitting, text: str) -> None:
    chat.app.chat.composer.set_text(text)
    await chat.pilot.press("enter")


def prompt(chat: Sitting) -> Prompt:
    return chat.app.chat.composer.prompt


async def test_places_are_filled_in_with_tab_in_the_composer_and_the_whole_is_sent() -> None:
    own("mail", "Dear {{name}}, about {{topic}}. {{name}}!")
    async with sitting() as chat:
        await command(chat, "/prompt mail")
        await chat.until(lambda: prompt(chat).selected_text == "{{name}}")
        assert "tab next place" in chat.screen_text()
        await chat.type("Ada")
        await chat.pilot.press("tab")
        assert prompt(chat).selected_text == "{{topic}}"
        await chat.type("engines")
        await chat.pilot.press("tab")
        assert chat.app.chat.composer.text == "Dear Ada, about engines. Ada!"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert chat.engine.asked[0][1] == ["Dear Ada, about engines. Ada!"]


async def test_what_stands_in_is_sent_and_what_is_missing_is_asked_for_once() -> None:
    own("t", "+++\n[variables]\nlanguage = 'Latin'\n+++\nTo {{language}}: {{text}}")
    async with sitting() as chat:
        await command(chat, "/prompt t")
        await chat.until(lambda: prompt(chat).selected_text == "{{language}}")
        await chat.pilot.press("enter")
        await chat.until(lambda: "{{text}} is still to be written" in chat.notice("said"))
        assert chat.app.chat.composer.text == "To Latin: {{text}}" and prompt(chat).selected_text == "{{text}}"
        assert not chat.engine.asked
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert chat.engine.asked[0][1] == ["To Latin: {{text}}"]


async def test_tab_is_for_the_badges_again_once_nothing_is_left_to_fill_in() -> None:
    own("one", "Say {{word}}")
    async with sitting() as chat:
        await command(chat, "/prompt one")
        await chat.until(lambda: prompt(chat).selected_text == "{{word}}")
        await chat.type("hi")
        await chat.pilot.press("tab")
        assert prompt(chat).has_focus
        await chat.pilot.press("shift+tab")
        assert not prompt(chat).has_focus
        await chat.type("!")
        assert chat.app.chat.composer.text == "Say hi!"


async def test_an_unknown_or_broken_prompt_is_a_sentence() -> None:
    path = own("broken", "+++\nx = \n")
    async with sitting() as chat:
        await command(chat, "/prompt transalte")
        await chat.until(lambda: "Did you mean translate?" in chat.notice("said"))
        await command(chat, "/prompt broken")
        await chat.until(lambda: str(path) in chat.notice("said"))


async def test_names_are_completed_from_the_files_as_they_are_now() -> None:
    async with sitting(size=(100, 30)) as chat:
        await chat.type("/prompt tr")
        await chat.until(lambda: "▸ translate" in chat.screen_text())
        await chat.pilot.press("tab")
        assert chat.app.chat.composer.text == "/prompt translate"
        await chat.pilot.press("enter")
        await chat.until(lambda: prompt(chat).selected_text == "{{language}}")
        await chat.pilot.press("ctrl+a", "ctrl+u")
        chat.app.chat.composer.take(remember=False)
        own("triage", "Triage {{bug}}")
        await command(chat, "/prompt")
        await chat.until(lambda: "triage" in chat.screen_text() and "Triage {{bug}}" in chat.screen_text())


async def test_a_theme_is_completed_too() -> None:
    async with sitting() as chat:
        await chat.type("/theme spark-l")
        await chat.until(lambda: "▸ spark-light" in chat.screen_text())


async def test_the_palette_inserts_a_prompt_into_what_is_written() -> None:
    own("greet", "Hello there")
    async with sitting() as chat:
        await chat.type("so: ")
        await chat.pilot.press("ctrl+p")
        await chat.until(lambda: isinstance(chat.app.screen, CommandPalette))
        chat.app.screen.query_one(Input).value = "greet"
        await chat.until(lambda: "/prompt greet" in chat.screen_text())
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.chat.composer.text == "so: Hello there")


async def test_a_prompt_is_saved_with_its_text_below_the_command() -> None:
    async with sitting() as chat:
        await command(chat, "/save-prompt standup\nWhat did I do on {{day}}?\nBe brief.")
        path = locations.own_prompts("prompt") / "standup.md"
        await chat.until(lambda: str(path) in chat.notice("said"))
        assert path.read_text() == "What did I do on {{day}}?\nBe brief.\n"
        assert not chat.engine.asked and chat.app.chat.composer.is_empty
        await command(chat, "/save-prompt standup\nsomething else")
        await chat.until(lambda: "already" in chat.notice("said"))
        assert chat.app.chat.composer.text == "/save-prompt standup\nsomething else", "nothing written is lost"


async def test_the_last_prompt_is_saved_where_nothing_stands_below() -> None:
    async with sitting() as chat:
        await chat.send("remember this one")
        await command(chat, "/save-prompt keep")
        path = locations.own_prompts("prompt") / "keep.md"
        await chat.until(path.exists)
        assert path.read_text() == "remember this one\n"


async def test_from_the_palette_the_draft_gets_a_line_for_its_name() -> None:
    async with sitting() as chat:
        await chat.type("a draft")
        chat.app.run_command("save-prompt")
        await chat.type("mine")
        assert chat.app.chat.composer.text == "/save-prompt mine\na draft"
        await chat.pilot.press("enter")
        await chat.until((locations.own_prompts("prompt") / "mine.md").exists)


async def test_a_hostile_prompt_file_is_shown_as_text() -> None:
    own("odd", "+++\ndescription = '[/INST] [link=x]'\n+++\n[/] {{x}}")
    async with sitting() as chat:
        await chat.type("/prompt od")
        await chat.until(lambda: chat.app.chat.query_one(Completion).is_open)
        await chat.until(lambda: "[/INST] [link=x]" in chat.screen_text())
