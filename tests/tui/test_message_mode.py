"""A message is chosen and acted on by one key; whatever else is typed goes to the composer and is never lost."""

from __future__ import annotations

import asyncio

import pytest
from textual.events import Paste

from spark_chat.chat.conversation import Stage
from spark_chat.tui.lab.check import CheckScreen
from spark_chat.tui.transcript import Transcript
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")

CODE = "Two ways:\n\n```python\nfirst()\n```\n\n- in a list\n\n  ```\n  second\n  ```\n"


async def talk(chat: Sitting, *pairs: tuple[str, str]) -> None:
    for prompt, answer in pairs:
        await chat.send(prompt)
        chat.engine.answer(answer)
        await chat.until(lambda: not chat.app.session.busy)


def shown(chat: Sitting) -> list[tuple[str, str]]:
    return [(item.prompt, str(item.answer)) for item in chat.app.session.conversation]


def chosen(chat: Sitting) -> tuple[str, str] | None:
    found = chat.app.chat.query_one(Transcript).chosen
    exchange = chat.app.chat.message_mode.exchange
    return None if found is None or exchange is None else (found[0], exchange.prompt)


def copied(chat: Sitting) -> str:
    return chat.app.clipboard


async def test_the_arrows_choose_a_message_and_the_keys_that_fit_it_are_named() -> None:
    async with sitting() as chat:
        await chat.pilot.press("alt+up")
        await chat.until(lambda: "no message here yet" in chat.notice("said"))
        await talk(chat, ("one", "plain"), ("two", CODE))
        await chat.pilot.press("alt+up")
        assert chosen(chat) == ("answer", "two")
        await chat.until(lambda: "c copy · 1-2 code · e edit · r ask again" in chat.screen_text())
        assert "▌" in next(line for line in chat.screen_text().splitlines() if "Two ways" in line)
        await chat.pilot.press("up", "alt+up")
        assert chosen(chat) == ("answer", "one")
        await chat.until(lambda: "code" not in chat.screen_text().splitlines()[-1])
        await chat.pilot.press("up", "up", "up")
        assert chosen(chat) == ("prompt", "one"), "the first is the first"
        await chat.pilot.press("alt+down", "down", "down", "down", "down")
        assert chosen(chat) == ("answer", "two")
        await chat.pilot.press("escape")
        assert chosen(chat) is None and "ask again" not in chat.screen_text()


async def test_copying_text_code_and_markdown() -> None:
    async with sitting() as chat:
        await talk(chat, ("say \x1b[2J\ntwice", CODE))
        await chat.pilot.press("alt+up", "1")
        await chat.until(lambda: copied(chat) == "first()\n")
        await chat.pilot.press("2")
        await chat.until(lambda: copied(chat) == "second\n")
        await chat.pilot.press("3")
        await chat.until(lambda: "are 2 code blocks" in chat.notice("said"))
        await chat.pilot.press("c")
        await chat.until(lambda: copied(chat) == CODE)
        await chat.pilot.press("m")
        await chat.until(lambda: copied(chat).startswith("> say ␛[2J\n> twice\n\nTwo ways"))
        assert "214 tok" in copied(chat) and "SmolLM2" in copied(chat)
        await chat.pilot.press("up", "c")
        await chat.until(lambda: copied(chat) == "say ␛[2J\ntwice")
        assert chat.app.chat.composer.is_empty and chosen(chat) is not None


async def test_what_is_typed_goes_to_the_composer_from_the_first_letter_on() -> None:
    async with sitting() as chat:
        await talk(chat, ("one", CODE))
        await chat.pilot.press("alt+up")
        await chat.type("hello mercy 1 for e and r")
        assert chat.app.chat.composer.text == "hello mercy 1 for e and r" and chosen(chat) is None
        await chat.pilot.press("alt+up")
        (chat.app.focused or chat.app.screen).post_message(Paste("x"))
        chat.app.post_message(Paste(" crab 123"))
        await chat.until(lambda: "crab 123" in chat.app.chat.composer.text)
        assert chosen(chat) is None
        await chat.pilot.press("alt+up", "enter")
        await chat.until(lambda: len(chat.app.session.conversation) == 2, "enter sends what was written")


async def test_scrolling_leaves_the_choice_and_esc_does_not_stop_an_answer_first() -> None:
    async with sitting() as chat:
        await talk(chat, ("one", "a\n\n" * 60))
        await chat.send("two")
        chat.engine.piece("coming")
        await chat.pilot.press("alt+up", "pageup", "pagedown")
        assert chosen(chat) == ("answer", "two")
        await chat.pilot.press("escape")
        assert chosen(chat) is None and chat.engine.aborted == []
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.engine.aborted)


async def test_asking_again_keeps_the_old_answer_and_the_arrows_step_between_them() -> None:
    async with sitting() as chat:
        await talk(chat, ("one", "first answer"), ("two", "behind it"))
        await chat.pilot.press("alt+up", "up", "up", "r")
        await chat.until(lambda: len(chat.engine.asked) == 3)
        assert chat.engine.asked[2][1] == ["one"] and chosen(chat) is None
        chat.engine.answer("second answer")
        await chat.until(lambda: shown(chat) == [("one", "second answer")])
        await chat.until(lambda: "‹ 2/2 ›" in chat.screen_text() and "first answer" not in chat.screen_text())
        await chat.pilot.press("alt+up", "left")
        await chat.until(lambda: shown(chat) == [("one", "first answer"), ("two", "behind it")])
        assert "context 254 / 8.2k" in chat.meters, "the count of what stands there now"
        await chat.until(lambda: "‹ 1/2 ›" in chat.screen_text() and "behind it" in chat.screen_text())
        assert chosen(chat) == ("answer", "one")
        await chat.pilot.press("left", "right", "right")
        await chat.until(lambda: shown(chat) == [("one", "second answer")])
        await chat.pilot.press("escape")
        await talk(chat, ("three", "behind the second"))
        assert chat.engine.asked[3][1] == ["one", "second answer", "three"]


async def test_a_version_that_is_left_goes_on_being_answered_and_shows_all_when_one_is_back() -> None:
    async with sitting() as chat:
        await talk(chat, ("one", "first answer"))
        await chat.type("/again")
        await chat.pilot.press("enter")
        await chat.until(lambda: len(chat.engine.asked) == 2)
        chat.engine.piece("half ")
        await chat.until(lambda: "half" in chat.screen_text())
        await chat.pilot.press("alt+up", "left")
        await chat.until(lambda: "first answer" in chat.screen_text())
        chat.engine.piece("and half")
        await chat.pilot.pause()
        assert "and half" not in chat.screen_text()
        await chat.pilot.press("right")
        await chat.until(lambda: "half and half" in chat.screen_text())
        chat.engine.piece(" and the rest")
        chat.engine.done()
        await chat.until(lambda: "half and half and the rest" in chat.screen_text() and "2/2" in chat.screen_text())


async def test_editing_a_prompt_asks_it_there_and_what_was_being_written_comes_back() -> None:
    async with sitting() as chat:
        await talk(chat, ("one", "first"), ("two", "second"))
        await chat.type("half a thought")
        await chat.pilot.press("alt+up", "up", "up", "up", "e")
        assert chat.app.chat.composer.text == "one" and "editing" in chat.notices
        await chat.type(" more")
        chat.app.chat.composer.flush_draft()
        await chat.pilot.press("enter")
        await chat.until(lambda: len(chat.engine.asked) == 3)
        assert chat.engine.asked[2][1] == ["one more"]
        chat.engine.answer("other")
        await chat.until(lambda: shown(chat) == [("one more", "other")])
        assert chat.app.chat.composer.text == "half a thought" and "editing" not in chat.notices
        await chat.until(lambda: "‹ 2/2 ›" in chat.screen_text())
        await chat.pilot.press("alt+up", "up", "left")
        await chat.until(lambda: shown(chat) == [("one", "first"), ("two", "second")])


async def test_an_edit_with_its_text_is_asked_at_once() -> None:
    async with sitting() as chat:
        await talk(chat, ("one", "first"), ("two", "second"))
        await chat.type("/edit three")
        await chat.pilot.press("enter")
        await chat.until(lambda: len(chat.engine.asked) == 3)
        assert chat.engine.asked[2][1] == ["one", "first", "three"]
        chat.engine.answer("third")
        await chat.until(lambda: shown(chat) == [("one", "first"), ("three", "third")])


async def test_an_edit_that_is_left_changes_nothing_and_up_brings_it_back() -> None:
    async with sitting() as chat:
        await talk(chat, ("one", "first"))
        await chat.type("draft")
        chat.app.run_command("edit")
        await chat.until(lambda: chat.app.chat.composer.text == "one")
        await chat.type(" edited")
        assert chat.app.chat.composer.draft == "draft\n\none edited", "both are kept at a kill"
        await chat.pilot.press("escape")
        assert chat.app.chat.composer.text == "draft" and shown(chat) == [("one", "first")]
        await chat.until(lambda: "editing" not in chat.notices)
        await chat.pilot.press("up")
        assert chat.app.chat.composer.text == "one edited"


async def test_editing_while_it_is_answered_stops_that_and_takes_back_what_waits() -> None:
    async with sitting() as chat:
        await chat.send("one")
        chat.engine.piece("half")
        await chat.send("waits")
        first = chat.engine.asked[0][0]
        await chat.pilot.press("alt+up", "up", "up", "e")
        await chat.type("!")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.aborted == [first])
        chat.engine.done(finish="abort")
        await chat.until(lambda: len(chat.engine.asked) == 2 and chat.engine.asked[1][1] == ["one!"])
        stages = {item.prompt: item.stage for item in chat.app.session.conversation.all}
        assert stages == {"one": Stage.STOPPED, "waits": Stage.STOPPED, "one!": Stage.ANSWERING}


async def test_an_answer_cut_by_length_is_continued_in_its_place() -> None:
    async with sitting() as chat:
        await chat.send("count")
        chat.engine.piece("one, two, ")
        chat.engine.done(finish="length", tokens=6)
        await chat.until(lambda: "cut at max" in chat.screen_text())
        await chat.pilot.press("alt+up")
        await chat.until(lambda: "n continue" in chat.screen_text())
        await chat.pilot.press("n")
        await chat.until(lambda: len(chat.engine.asked) == 2)
        await chat.until(lambda: "c copy" not in chat.screen_text(), "no message is chosen, so no keys of one")
        opening = chat.engine.openings[1]
        assert opening is not None and (opening.text, opening.thought) == ("one, two, ", "")
        assert chat.engine.asked[1][0] != chat.engine.asked[0][0], "an id is asked once in an engine's life"
        chat.engine.piece("three.")
        chat.engine.done(tokens=2)
        await chat.until(lambda: shown(chat) == [("count", "one, two, three.")])
        await chat.until(lambda: "one, two, three." in chat.screen_text())
        assert "goes on after 6 tok: 2 tok" in chat.screen_text()
        chat.app.run_command("more")
        await chat.until(lambda: "ended this answer itself" in chat.notice("said"))
        chat.app.run_command("new")
        chat.app.run_command("resume")
        await chat.until(lambda: "Conversations ·" in chat.screen_text())
        await chat.pilot.press("enter")
        await chat.until(lambda: shown(chat) == [("count", "one, two, three.")])
        await chat.until(lambda: "goes on after 6 tok: 2 tok" in chat.screen_text())


async def test_a_fork_is_a_conversation_of_its_own_and_the_old_one_stays() -> None:
    async with sitting() as chat:
        await talk(chat, ("one", "first"), ("two", "second"))
        old = chat.app.session.conversation.id
        await chat.pilot.press("alt+up", "up", "up", "f")
        await chat.until(lambda: chat.app.session.conversation.id != old)
        assert shown(chat) == [("one", "first")]
        await talk(chat, ("three", "third"))
        assert chat.engine.asked[2][1] == ["one", "first", "three"]
        fork = chat.app.session.conversation.id
        await chat.app.desk.resume(old)
        assert shown(chat) == [("one", "first"), ("two", "second")]
        await chat.app.desk.resume(fork)
        assert shown(chat) == [("one", "first"), ("three", "third")]
        await chat.pilot.press("alt+up", "up", "f")
        await chat.until(lambda: shown(chat) == [("one", "first")])
        assert chat.app.chat.composer.text == "three", "a fork at a prompt has it in the composer"


async def test_a_check_of_the_prompt_and_a_folded_prompt_opened_by_key() -> None:
    async with sitting(size=(100, 40)) as chat:
        await talk(chat, ("\n".join(f"line {number}" for number in range(60)), "fine"))
        assert "line 50" not in chat.screen_text()
        await chat.pilot.press("alt+up", "up")
        await chat.until(lambda: "o open" in chat.screen_text())
        await chat.pilot.press("o")
        await chat.until(lambda: "line 30" in chat.screen_text())
        await chat.pilot.press("o")
        await chat.until(lambda: "line 30" not in chat.screen_text())
        await chat.pilot.press("escape", "ctrl+t")
        await chat.until(lambda: "line 30" in chat.screen_text(), "ctrl+t opens it too")
        await chat.pilot.press("alt+up", "k")
        await chat.until(lambda: isinstance(chat.app.screen, CheckScreen))


async def test_whether_to_think_is_the_conversation_s_own_and_comes_back_with_it() -> None:
    async with sitting() as chat:
        await chat.type("/think off")
        await chat.pilot.press("enter")
        await chat.until(lambda: "without reasoning, in this conversation" in chat.notice("said"))
        await chat.send("one")
        chat.engine.piece("answer", "a thought of old")
        chat.engine.done()
        await talk(chat, ("two", "second"))
        assert [item.sampling.thinking for item in chat.engine.settings] == [False, False]
        assert "a thought of old" not in str(chat.engine.asked[1][1]), "old reasoning is not sent back"
        chat.app.run_command("new")
        await talk(chat, ("three", "third"))
        assert chat.engine.settings[-1].sampling.thinking is True
        await chat.pilot.press("ctrl+q")
        await chat.until(lambda: chat.engine.closed)
    async with sitting() as chat:
        await chat.until(lambda: chat.app.desk.shelf is not None)
        assert chat.app.desk.shelf is not None and chat.app.journal is not None
        page = await asyncio.wrap_future(chat.app.desk.shelf.page(0, 10))
        assert page is not None
        await chat.app.desk.resume(next(row.conversation for row in page.rows if row.title == "one"))
        assert not chat.app.session.thinking
        chat.app.run_command("think", "auto")
        assert chat.app.session.thinking and chat.app.session.conversation.thinking is None


@pytest.mark.parametrize("size", [(40, 20), (80, 24), (200, 50)])
async def test_the_line_of_keys_fits_and_always_says_the_way_back(size: tuple[int, int]) -> None:
    async with sitting(size=size) as chat:
        await talk(chat, ("one", CODE))
        await chat.pilot.press("alt+up")
        await chat.until(lambda: "esc back" in chat.screen_text())
        line = next(line for line in chat.screen_text().splitlines() if "esc back" in line)
        assert len(line) <= size[0] and "c copy" in line
