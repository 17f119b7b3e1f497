"""What stood unsent in a conversation that was left: prompts that wait, drafts, commands."""

from __future__ import annotations

import pytest

from spark_chat.chat.conversation import Stage
from spark_chat.tui.talks.screen import TalksScreen
from tests.tui.sitting import sitting
from tests.tui.talks_sitting import command, open_list, prompts, talk, titles

pytestmark = pytest.mark.usefixtures("home")


async def test_what_is_written_stays_in_the_composer() -> None:
    async with sitting() as chat:
        await talk(chat, "alpha")
        await command(chat, "/new")
        await chat.type("half a thought")
        await chat.pilot.press("f3")
        await chat.until(lambda: isinstance(chat.app.screen, TalksScreen))
        await chat.until(lambda: titles(chat) == ["alpha"])
        await chat.pilot.press("enter")
        await chat.until(lambda: prompts(chat) == ["alpha"])
        assert chat.app.chat.composer.text == "half a thought"


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
