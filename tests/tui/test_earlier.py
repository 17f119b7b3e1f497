"""Conversations that were left: listed, gone on with, and what stood unsent in them."""

from __future__ import annotations

from datetime import datetime

import pytest

from spark_chat.chat.conversation import Stage
from spark_chat.tui.composer.earlier import when
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


async def command(chat: Sitting, text: str) -> None:
    await chat.type(text)
    await chat.pilot.press("enter")
    await chat.until(lambda: chat.app.chat.composer.is_empty)


async def talk(chat: Sitting, *prompts: str) -> None:
    for text in prompts:
        await chat.send(text)
        chat.engine.answer(f"answer to {text}")
        await chat.until(lambda: not chat.app.session.busy)


async def open_list(chat: Sitting) -> list[str]:
    await command(chat, "/resume")
    await chat.until(lambda: chat.app.chat.composer.earlier.is_open, "the list")
    return [item.title for item in chat.app.chat.composer.earlier.found]


def prompts(chat: Sitting) -> list[str]:
    return [item.prompt for item in chat.app.session.conversation]


async def test_all_kept_conversations_are_listed_newest_first_without_this_one() -> None:
    async with sitting() as chat:
        for text in ("alpha", "beta", "gamma"):
            await talk(chat, text)
            await command(chat, "/new")
        assert await open_list(chat) == ["gamma", "beta", "alpha"]
        screen = chat.screen_text()
        assert screen.index("▸ today") < screen.index("gamma") < screen.index("beta")
        await chat.pilot.press("down", "down", "enter")
        await chat.until(lambda: prompts(chat) == ["alpha"])
        await chat.until(lambda: "answer to alpha" in chat.screen_text())
        assert await open_list(chat) == ["gamma", "beta"], "the one that is open is not offered"
        await chat.pilot.press("enter")
        await chat.until(lambda: prompts(chat) == ["gamma"])
        assert await open_list(chat) == ["alpha", "beta"], "the one just left comes first"
    async with sitting() as chat:
        assert await open_list(chat) == ["gamma", "alpha", "beta"], "the next start has them all"


async def test_typing_goes_on_under_the_list_and_nothing_written_is_lost() -> None:
    async with sitting() as chat:
        await talk(chat, "alpha")
        await command(chat, "/new")
        await open_list(chat)
        await chat.type("half a thought")
        assert chat.app.chat.composer.text == "half a thought" and chat.app.chat.composer.earlier.is_open
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: prompts(chat) == ["alpha"])
        assert chat.app.chat.composer.text == "half a thought"
        await open_list_is_empty(chat)


async def open_list_is_empty(chat: Sitting) -> None:
    chat.app.run_command("resume")
    await chat.until(lambda: "no other conversation" in chat.notice("said"))


async def test_escape_closes_the_list_and_without_history_the_command_says_why_there_is_none() -> None:
    async with sitting() as chat:
        await talk(chat, "alpha")
        await command(chat, "/new")
        await open_list(chat)
        await chat.pilot.press("escape")
        assert not chat.app.chat.composer.earlier.is_open and prompts(chat) == []
    async with sitting("ui.history=false") as chat:
        await command(chat, "/resume")
        await chat.until(lambda: "history is off" in chat.notice("said"))


async def test_what_waits_when_a_conversation_is_left_waits_there_and_is_sent_on_return() -> None:
    async with sitting() as chat:
        await chat.send("first")
        chat.engine.piece("par")
        await chat.send("second")
        await command(chat, "/new")
        assert "1 prompt waits" in chat.notice("said")
        chat.engine.done(finish="abort")
        await open_list(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: prompts(chat) == ["first", "second"])
        await chat.until(lambda: len(chat.engine.asked) == 2)
        assert chat.engine.asked[1][1] == ["first", "par", "second"]


async def test_a_prompt_that_waited_at_the_end_is_offered_by_the_next_start_and_sent() -> None:
    async with sitting() as chat:
        await chat.send("first")
        chat.engine.piece("par")
        await chat.send("second")
        await chat.pilot.press("ctrl+q")
        await chat.until(lambda: chat.engine.closed)
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        assert "1 prompt of it still waits to be sent" in chat.notice("resume")
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: chat.engine.asked)
        assert chat.engine.asked[0][1] == ["first", "par", "second"]


async def test_a_prompt_that_the_engine_never_began_waits_for_the_next_start() -> None:
    async with sitting(ready=False) as chat:
        await chat.send("early")
        await chat.pilot.press("ctrl+q")
        await chat.until(lambda: chat.engine.closed)
        assert [item.stage for item in chat.app.session.conversation] == [Stage.QUEUED]
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: chat.engine.asked and chat.engine.asked[0][1] == ["early"])


@pytest.mark.parametrize("text", ["/new", "/resume", "/exit"])
async def test_a_command_that_was_given_does_not_come_back_as_a_draft(text: str) -> None:
    async with sitting() as chat:
        await talk(chat, "alpha")
        await chat.type(text)
        chat.app.chat.composer.flush_draft()  # it stood there long enough to be kept
        await chat.pilot.pause()
        await chat.pilot.press("enter")
        await chat.until(lambda: not chat.app.is_running or chat.app.chat.composer.is_empty)
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        assert chat.app.chat.composer.text == ""
        await chat.pilot.press("up")
        assert chat.app.chat.composer.text == "alpha"
        await chat.pilot.press("down", "ctrl+g")
        await chat.until(lambda: prompts(chat) == ["alpha"])
        assert chat.app.chat.composer.text == ""


async def test_a_command_is_no_prompt_to_recall_and_the_draft_stays_below_it() -> None:
    async with sitting() as chat:
        await talk(chat, "alpha")
        await command(chat, "/fold")
        await chat.pilot.press("up")
        assert chat.app.chat.composer.text == "alpha"


async def test_a_draft_goes_along_to_a_new_conversation_and_is_not_kept_twice() -> None:
    async with sitting() as chat:
        await talk(chat, "alpha")
        await chat.type("half")
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: prompts(chat) == [])
        assert chat.app.chat.composer.text == "half"
        await chat.pilot.press("ctrl+u")
        chat.app.chat.composer.flush_draft()
        await open_list(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: prompts(chat) == ["alpha"])
        assert chat.app.chat.composer.text == ""


def test_a_date_is_as_short_as_it_can_be() -> None:
    now = datetime(2026, 11, 30, 18, 0)
    assert when(datetime(2026, 11, 30, 14, 3).timestamp(), now) == "today 14:03"
    assert when(datetime(2026, 3, 1, 14, 3).timestamp(), now) == "01 Mar 14:03"
    assert when(datetime(2025, 12, 31, 23, 59).timestamp(), now) == "31 Dec 2025"
