"""Conversations that were left: listed, gone on with, and what stood unsent in them."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.chat.conversation import Stage
from spark_chat.history.message import Hit, Listed
from spark_chat.tui.screens.help import HelpScreen
from spark_chat.tui.talks.keys import KEYS, hint
from spark_chat.tui.talks.rows import hit_row, row, when
from spark_chat.tui.talks.screen import TalksScreen
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
    chat.app.run_command("resume")
    await chat.until(lambda: isinstance(chat.app.screen, TalksScreen) and chat.app.screen.is_mounted, "the list")
    await chat.until(lambda: "Conversations ·" in chat.screen_text(), "its rows")
    return titles(chat)


def titles(chat: Sitting) -> list[str]:
    screen = chat.app.screen
    assert isinstance(screen, TalksScreen)
    rows = [found for _, found in screen.list.window.view]
    return [(found.listed if isinstance(found, Hit) else found).title for found in rows if found is not None]


async def back(chat: Sitting) -> None:
    await chat.until(lambda: chat.app.screen is chat.app.chat, "the chat")


def prompts(chat: Sitting) -> list[str]:
    return [item.prompt for item in chat.app.session.conversation]


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


@pytest.mark.parametrize("width", [10, 38, 80, 200])
def test_a_row_is_one_line_of_text_that_is_never_markup(width: int) -> None:
    item = Listed("c", "[/INST] \x1b]0;x\x07 " + "日本語 " * 40, 0.0, pinned=True, held=True)
    now = datetime(2026, 11, 30)
    line = row(item, width, now, chosen=True, here=False)
    assert "\x1b" not in line.plain and "\n" not in line.plain and line.cell_length <= max(width, 26)
    hit = Hit(item, "m", "user", (("before ", False), ("[/b]", True), (" \x1b[2J", False)), 3)
    found = hit_row(hit, width, now, chosen=False, here=True)
    assert len(found.plain.splitlines()) == 2 and "\x1b" not in found.plain


def test_a_date_is_as_short_as_it_can_be() -> None:
    now = datetime(2026, 11, 30, 18, 0)
    assert when(datetime(2026, 11, 30, 14, 3).timestamp(), now) == "today 14:03"
    assert when(datetime(2026, 3, 1, 14, 3).timestamp(), now) == "01 Mar 14:03"
    assert when(datetime(2025, 12, 31, 23, 59).timestamp(), now) == "31 Dec 2025"


@pytest.mark.parametrize(("size", "seen"), [((80, 24), True), ((40, 20), True), ((200, 50), True), ((40, 13), False)])
async def test_the_keys_are_named_where_there_is_room(size: tuple[int, int], seen: bool) -> None:
    async with sitting(size=size) as chat:
        await open_list(chat)
        await chat.until(lambda: "enter open" in chat.screen_text(), "the hints")
        shown = chat.screen_text()
        assert all((f"{key} {word}" in shown) == seen for key, word, _ in KEYS[3:7])
        assert max(map(len, shown.splitlines())) <= size[0]


@given(st.booleans(), st.integers(1, 200), st.integers(1, 4))
def test_hints_fit(naming: bool, width: int, lines: int) -> None:
    found = hint(naming, width, lines).split("\n")
    assert len(found) <= lines and all(len(line) <= width for line in found)


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


async def test_nothing_found_is_said_in_line_at_forty_cells() -> None:
    async with sitting(size=(40, 20)) as chat:
        await talk(chat, "alpha")
        await open_list(chat)
        await chat.type("zebra")
        await chat.until(lambda: "Nothing was found" in chat.screen_text())
        rows = [line for line in chat.screen_text().splitlines() if "Nothing was" in line or "beginning" in line]
        assert len(rows) >= 2 and len({len(line) - len(line.lstrip()) for line in rows}) == 1


def test_a_cut_title_still_says_that_it_is_a_fork() -> None:
    now = datetime(2026, 11, 30, 12, 0)
    long = Listed("a", "the quick brown fox jumps over the lazy dog (fork)", now.timestamp(), False, False)
    for width in (40, 60, 90):
        line = row(long, width, now, chosen=False, here=False).plain
        assert "(fork)" in line and len(line) <= width
    assert "…" in row(long, 60, now, chosen=False, here=False).plain
