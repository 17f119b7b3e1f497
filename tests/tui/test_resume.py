"""A chat that is opened again: what was typed and received is there, and it offers to go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_chat.chat.conversation import Stage
from spark_chat.history.journal import Journal
from spark_chat.locations import history_file
from tests.tui.sitting import sitting

pytestmark = pytest.mark.usefixtures("home")


async def killed_chat(draft: str = "") -> None:
    """What a chat leaves behind that was killed in the middle of its second answer, with a third prompt waiting."""
    journal = Journal(history_file())
    conversation = journal.begin()
    for number, (prompt, answer, state) in enumerate([("first", "one", "done"), ("second", "two and a ha", None)]):
        journal.prompt(conversation, f"p{number}", prompt)
        journal.answer_started(conversation, f"a{number}", f"p{number}")
        journal.append(f"a{number}", answer, "thoughts")
        if state:
            journal.finish(f"a{number}", "done", {"tokens": 3, "finish": "stop"}, {"model": "SmolLM2-135M"})
    journal.prompt(conversation, "p2", "third, never sent")
    journal.draft(conversation, draft)
    assert journal.close()
    import sqlite3

    with sqlite3.connect(history_file()) as connection:  # no goodbye was said, and its process is gone
        connection.execute("UPDATE runs SET closed = NULL, pid = 4194303")


async def test_the_next_start_offers_to_go_on_and_typing_is_untouched_by_it() -> None:
    await killed_chat()
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        assert "in the middle of an answer" in chat.notice("resume") and "first" in chat.notice("resume")
        await chat.type("typed before")
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "two and a ha" in chat.screen_text())
        text = chat.screen_text()
        assert "first" in text and "one" in text and "SmolLM2" in text
        assert chat.app.chat.composer.text == "typed before" and "resume" not in chat.notices
        assert [item.stage for item in chat.app.session.conversation][:2] == [Stage.DONE, Stage.STOPPED]
        await chat.until(lambda: chat.engine.asked)
        assert chat.engine.asked[0][1] == ["first", "one", "second", "two and a ha", "third, never sent"]


async def test_the_draft_is_back_and_an_offer_left_alone_stays_for_the_next_start() -> None:
    await killed_chat("half a prompt")
    async with sitting() as chat:
        await chat.until(lambda: chat.app.chat.composer.text == "half a prompt")
        await chat.pilot.press("escape")
        await chat.until(lambda: "resume" not in chat.notices)
        assert chat.app.chat.composer.text == "half a prompt"
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        assert "first" in chat.notice("resume") and chat.app.chat.composer.text == "half a prompt"


async def test_a_prompt_takes_the_offer_down_and_resume_still_goes_there() -> None:
    await killed_chat()
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        await chat.send("something new")
        await chat.until(lambda: "resume" not in chat.notices)
        chat.engine.answer("new answer")
        await chat.until(lambda: not chat.app.session.busy)
        await chat.type("/resume")
        await chat.pilot.press("enter")
        await chat.until(lambda: "Conversations ·" in chat.screen_text())
        await chat.pilot.press("enter")
        await chat.until(lambda: "two and a ha" in chat.screen_text())
        assert "new answer" not in chat.screen_text()


async def test_what_is_said_is_kept_as_it_came_with_its_numbers() -> None:
    async with sitting() as chat:
        await chat.send("raw \x1b[31m prompt")
        chat.engine.piece("raw \x1b]0;title\x07 answer", "thought")
        chat.engine.done()
        await chat.until(lambda: not chat.app.session.busy)
        await chat.send("cut off")
        chat.engine.piece("so f")
    journal = Journal(history_file())
    offer = journal.latest().result(10)
    assert offer is not None
    kept = journal.load(offer.conversation).result(10)
    journal.close()
    assert kept is not None
    texts = [(message.role, message.text, message.state) for message in kept.messages]
    assert texts == [
        ("user", "raw \x1b[31m prompt", "done"),
        ("assistant", "raw \x1b]0;title\x07 answer", "done"),
        ("user", "cut off", "done"),
        ("assistant", "so f", "stopped"),
    ]
    assert kept.messages[1].reasoning == "thought" and kept.messages[1].numbers["tokens"] == 214


async def test_without_history_nothing_is_written(home: Path) -> None:
    async with sitting("ui.history=false") as chat:
        await chat.send("secret")
        chat.engine.answer("secret too")
        await chat.until(lambda: not chat.app.session.busy)
    assert not history_file().exists()


async def test_earlier_prompts_are_recalled_and_the_draft_is_not_lost() -> None:
    await killed_chat()
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        await chat.type("draft")
        await chat.pilot.press("up")
        assert chat.app.chat.composer.text == "third, never sent"
        await chat.pilot.press("down")
        assert chat.app.chat.composer.text == "draft"
