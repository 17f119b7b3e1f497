"""A chat that is opened again: what was typed and received is there, and it offers to go on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from spark_chat.chat.conversation import Stage
from spark_chat.history.journal import Journal
from spark_chat.history.shelf import Shelf
from spark_chat.history.store import Store
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


async def held() -> list[tuple[str, bool]]:
    """What another chat's list says now: titles, and whether they are in use."""
    journal = Journal(history_file())
    page = await journal.committed(Shelf(journal).page(0, 10))
    await asyncio.to_thread(journal.close)
    assert page is not None
    return [(item.title, item.held) for item in page.rows]


async def test_a_conversation_that_is_only_offered_is_in_nobodys_use() -> None:
    await killed_chat("half a prompt")
    async with sitting() as chat:
        await chat.until(lambda: chat.app.chat.composer.text == "half a prompt")
        chat.app.chat.composer.flush_draft()
        await chat.pilot.pause()
        assert await held() == [("first", False)]
        await chat.type(", and more")
        chat.app.chat.composer.flush_draft()
        await chat.pilot.pause()
        assert await held() == [("first", False)]
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert await held() == [("half a prompt, and more", True), ("first", False)]


async def test_what_was_written_comes_back_beside_what_is_offered() -> None:
    await killed_chat("half a prompt")
    async with sitting() as chat:
        await chat.until(lambda: chat.app.chat.composer.text == "half a prompt")
        await chat.type(", and more")
    for _ in range(2):
        async with sitting() as chat:
            await chat.until(lambda: "resume" in chat.notices)
            assert "first" in chat.notice("resume")
            assert chat.app.chat.composer.text == "half a prompt, and more"
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "two and a ha" in chat.screen_text())
        assert chat.app.chat.composer.text == "half a prompt, and more"
    store = Store.open(history_file())
    assert store.rows("SELECT count(*) FROM conversations") == [(1,)], "what kept the draft alone is gone"
    assert store.rows("SELECT text FROM drafts") == [("half a prompt, and more",)]
    store.close()


async def test_a_draft_of_a_conversation_is_one_up_where_something_else_is_written() -> None:
    await killed_chat("half a prompt")
    async with sitting() as chat:
        await chat.until(lambda: chat.app.chat.composer.text == "half a prompt")
        chat.app.chat.composer.set_text("other")
        await chat.pilot.pause()
        journal = chat.app.journal
        assert journal is not None
        page = await journal.committed(Shelf(journal).page(0, 1))
        assert page is not None
        journal.draft(page.rows[0].conversation, "of old")
        await chat.app.desk.resume(page.rows[0].conversation)
        assert chat.app.chat.composer.text == "other" and "one up" in chat.notice("said")
        await chat.pilot.press("up")
        assert chat.app.chat.composer.text == "of old"


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
