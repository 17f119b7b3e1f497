"""Conversations that were left: listed, found, named, deleted and gone on with."""

from __future__ import annotations

import pytest

from spark_chat.tui.screens.help import HelpScreen
from spark_chat.tui.talks.screen import TalksScreen
from tests.tui.sitting import sitting
from tests.tui.talks_sitting import back, command, open_list, prompts, talk, titles

pytestmark = pytest.mark.usefixtures("home")


async def test_all_conversations_are_listed_used_last_first_and_this_one_says_so() -> None:
    async with sitting() as chat:
        for text in ("alpha", "beta", "gamma"):
            await talk(chat, text)
            if text != "gamma":
                await command(chat, "/new")
        assert await open_list(chat) == ["gamma", "beta", "alpha"]
        assert "▸   today" in chat.screen_text().split("beta")[0], "one comes for another one than that which is open"
        assert "open" in next(line for line in chat.screen_text().splitlines() if "gamma" in line)
        await chat.pilot.press("down", "enter")
        await chat.until(lambda: prompts(chat) == ["alpha"])
        await chat.until(lambda: "answer to alpha" in chat.screen_text())
        assert await open_list(chat) == ["alpha", "gamma", "beta"]
        await chat.pilot.press("escape")
        await back(chat)
        assert prompts(chat) == ["alpha"]
    async with sitting() as chat:
        assert await open_list(chat) == ["alpha", "gamma", "beta"], "the next start has them all"


async def test_without_history_a_sentence_says_why_there_is_no_list() -> None:
    async with sitting("ui.history=false") as chat:
        await command(chat, "/resume")
        await chat.until(lambda: "history is off" in chat.notice("said"))


async def test_a_search_shows_the_hits_and_opens_at_the_one_that_is_chosen() -> None:
    async with sitting(size=(80, 24)) as chat:
        await talk(chat, "about tea")
        for number in range(30):
            await chat.send(f"more {number}")
            chat.engine.answer("filler\n\n" * 5 + ("the hidden needle" if number == 3 else ""))
            await chat.until(lambda: not chat.app.session.busy)
        await command(chat, "/new")
        await talk(chat, "about coffee")
        await open_list(chat)
        await chat.type("needle hid")
        await chat.until(lambda: "hidden needle" in chat.screen_text(), "the hit")
        assert titles(chat) == ["about tea"] and "about coffee" not in chat.screen_text()
        await chat.pilot.press("enter")
        await back(chat)
        await chat.until(lambda: "the hidden needle" in chat.screen_text(), "the message")
        exchange = chat.app.chat.message_mode.exchange
        assert exchange is not None and exchange.prompt == "more 3"
        assert await open_list(chat) and chat.app.screen is not chat.app.chat
        await chat.type('"needle nothing')
        await chat.until(lambda: "Nothing was found" in chat.screen_text())
        await chat.pilot.press("escape")
        await chat.until(lambda: len(titles(chat)) == 2)


async def test_name_pin_delete_and_undo() -> None:
    async with sitting() as chat:
        for text in ("alpha", "beta", "gamma"):
            await talk(chat, text)
            await command(chat, "/new")
        assert await open_list(chat) == ["gamma", "beta", "alpha"]
        await chat.pilot.press("ctrl+r", "ctrl+u")
        await chat.type("the third [/b]")
        await chat.pilot.press("enter")
        await chat.until(lambda: titles(chat)[0] == "the third [/b]")
        await chat.pilot.press("down", "down", "ctrl+t")
        await chat.until(lambda: titles(chat) == ["alpha", "the third [/b]", "beta"])
        assert "pinned" in chat.screen_text()
        await chat.pilot.press("down", "down", "ctrl+d")
        await chat.until(lambda: titles(chat) == ["alpha", "the third [/b]"])
        await chat.pilot.press("ctrl+d")
        await chat.until(lambda: titles(chat) == ["alpha"])
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: titles(chat) == ["alpha", "the third [/b]"])
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: titles(chat) == ["alpha", "the third [/b]", "beta"])
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: "Nothing was deleted" in chat.screen_text())
        await chat.pilot.press("up", "ctrl+r", "ctrl+u", "enter")
        await chat.until(lambda: titles(chat)[1] == "gamma", "an empty name is the first prompt's")


async def test_the_conversation_at_hand_can_be_deleted_and_brought_back() -> None:
    async with sitting() as chat:
        await talk(chat, "alpha")
        await open_list(chat)
        await chat.pilot.press("ctrl+d")
        await chat.until(lambda: "no conversation yet" in chat.screen_text())
        assert prompts(chat) == []
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: titles(chat) == ["alpha"])
        await chat.pilot.press("enter")
        await chat.until(lambda: prompts(chat) == ["alpha"])


async def test_a_conversation_opens_where_it_was_left() -> None:
    async with sitting(size=(80, 24)) as chat:
        await chat.send("a long one")
        chat.engine.answer("".join(f"paragraph number {number}\n\n" for number in range(200)))
        await chat.until(lambda: "number 199" in chat.screen_text())
        for _ in range(6):
            await chat.pilot.press("pageup")
        await chat.until(lambda: "number 199" not in chat.screen_text())
        top = chat.screen_text().split("paragraph number ")[1].split()[0]
        await command(chat, "/new")
        await talk(chat, "other")
        await open_list(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: prompts(chat) == ["a long one"])
        await chat.until(lambda: f"paragraph number {top}" in chat.screen_text(), "the place")
        assert chat.screen_text().split("paragraph number ")[1].split()[0] == top
        await chat.pilot.press("ctrl+q")
        await chat.until(lambda: chat.engine.closed)
    async with sitting(size=(100, 24)) as chat:
        await open_list(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: f"paragraph number {top}" in chat.screen_text(), "the place, after a start")


async def test_many_conversations_are_read_as_they_come_into_view() -> None:
    async with sitting(size=(80, 24)) as chat:
        assert chat.app.journal is not None
        for number in range(230):
            chat.app.journal.prompt(chat.app.journal.begin(), f"p{number}", f"talk {number}")
        await open_list(chat)
        assert isinstance(chat.app.screen, TalksScreen)
        assert chat.app.screen.list.window.total == 230 and titles(chat)[0] == "talk 229"
        await chat.pilot.press("ctrl+end")
        await chat.until(lambda: titles(chat)[-1:] == ["talk 0"])
        await chat.pilot.press("ctrl+home", "pagedown")
        await chat.until(lambda: "▸   today" in chat.screen_text() and "talk 212" in chat.screen_text())


async def test_help_opens_over_the_list_and_goes_back_to_it() -> None:
    async with sitting("keys.help=f10") as chat:
        await open_list(chat)
        await chat.pilot.press("f10")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen), "the help")
        await chat.pilot.press("f10")
        await chat.until(lambda: isinstance(chat.app.screen, TalksScreen), "the list")


async def test_what_is_brought_back_is_chosen_in_a_search_too() -> None:
    async with sitting() as chat:
        for text in ("alpha one", "beta one", "gamma two"):
            await talk(chat, text)
            if text != "gamma two":
                await command(chat, "/new")
        await open_list(chat)
        await chat.type("one")
        await chat.until(lambda: titles(chat) == ["beta one", "alpha one"])
        await chat.pilot.press("down", "ctrl+d")
        await chat.until(lambda: titles(chat) == ["beta one"])
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: titles(chat) == ["beta one", "alpha one"])
        await chat.until(lambda: "▸   today" in chat.screen_text().split("alpha one")[0].splitlines()[-1], "chosen")
