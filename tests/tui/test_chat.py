"""Writing, sending, stopping, queueing: what a person does most."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_chat.chat.conversation import Stage
from spark_chat.driver.snapshot import Phase
from tests.tui.sitting import sitting

pytestmark = pytest.mark.usefixtures("home")


async def test_a_prompt_is_answered_and_its_numbers_stay() -> None:
    async with sitting() as chat:
        await chat.type("hello")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert chat.engine.asked[0][1] == ["hello"]
        chat.engine.piece("Hi there.")
        chat.engine.done()
        await chat.until(lambda: "Hi there." in chat.screen_text())
        await chat.until(lambda: "131.2 tok/s" in chat.meters)
        assert "accept 1.83" in chat.meters and "3.1k / 8.2k" in chat.meters
        assert chat.app.chat.composer.is_empty


async def test_the_composer_takes_typing_while_the_engine_comes_up_and_loses_nothing() -> None:
    async with sitting(ready=False) as chat:
        chat.engine.progress("loading the weights", 0.4)
        await chat.send("typed early")
        await chat.type("and this one is not finished")
        assert "1 prompt will be sent when the engine is ready" in chat.notice("start")
        assert "40%" in chat.screen_text()
        chat.engine.ready()
        await chat.until(lambda: chat.app.session.conversation.exchanges[0].stage is Stage.ANSWERING)
        assert chat.engine.asked[0][1] == ["typed early"]
        assert chat.app.chat.composer.text == "and this one is not finished"
        assert chat.notices == []


async def test_a_prompt_sent_meanwhile_waits_and_shows_so() -> None:
    async with sitting() as chat:
        await chat.send("first")
        await chat.send("second")
        await chat.until(lambda: "queue 1" in chat.meters)
        assert len(chat.engine.asked) == 1
        chat.engine.piece("one")
        await chat.until(lambda: "one" in chat.screen_text())
        text = chat.screen_text()
        assert text.index("first") < text.index("one") < text.index("second") < text.index("queued")
        chat.engine.done()
        await chat.until(lambda: len(chat.engine.asked) == 2)
        assert chat.engine.asked[1][1] == ["first", "one", "second"]
        await chat.until(lambda: "queue 0" in chat.meters)


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_stopping_keeps_what_came(key: str) -> None:
    async with sitting() as chat:
        await chat.send("long story")
        chat.engine.piece("Once upon")
        await chat.pilot.press(key)
        await chat.until(lambda: chat.engine.aborted)
        chat.engine.done(finish="abort")
        exchange = chat.app.session.conversation.exchanges[0]
        await chat.until(lambda: exchange.stage is Stage.STOPPED)
        await chat.until(lambda: "stopped" in chat.screen_text())
        assert "Once upon" in chat.screen_text()
        await chat.send("go on")
        assert chat.engine.asked[-1][1] == ["long story", "Once upon", "go on"]


async def test_ctrl_c_twice_quits_only_when_idle() -> None:
    async with sitting() as chat:
        await chat.send("x")
        await chat.pilot.press("ctrl+c")
        await chat.pilot.press("ctrl+c")
        await chat.pilot.pause()
        assert not chat.engine.closed, "mashing ctrl+c in an answer must not end the chat"
        chat.engine.done(finish="abort")
        await chat.until(lambda: not chat.app.session.busy)
        await chat.pilot.press("ctrl+c")
        assert not chat.engine.closed
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: chat.engine.closed and not chat.app.is_running)


@pytest.mark.parametrize("way", ["ctrl+q", "ctrl+d", "/exit", "/quit", "/bye", "exit"])
async def test_ways_to_leave(way: str) -> None:
    async with sitting() as chat:
        if way.startswith("ctrl"):
            await chat.pilot.press(way)
        else:
            await chat.type(way)
            await chat.pilot.press("enter")
        await chat.until(lambda: not chat.app.is_running)
        assert chat.engine.closed and chat.app.return_code == 0


async def test_ctrl_d_does_not_quit_over_a_draft() -> None:
    async with sitting() as chat:
        await chat.type("draft")
        await chat.pilot.press("ctrl+d")
        await chat.pilot.pause()
        assert chat.app.is_running and chat.app.chat.composer.text == "draft"


async def test_new_begins_a_conversation_and_sends_nothing_of_the_old() -> None:
    async with sitting() as chat:
        await chat.send("old")
        chat.engine.answer("old answer")
        await chat.until(lambda: not chat.app.session.busy)
        await chat.type("/new")
        await chat.pilot.press("enter")
        await chat.until(lambda: len(chat.app.session.conversation) == 0)
        await chat.until(lambda: "old answer" not in chat.screen_text())
        await chat.send("fresh")
        assert chat.engine.asked[-1][1] == ["fresh"]


async def test_an_unknown_command_is_refused_by_name_and_stays_in_the_composer() -> None:
    async with sitting() as chat:
        await chat.type("/setings")
        await chat.pilot.press("enter")
        await chat.until(lambda: "Did you mean /settings?" in chat.screen_text())
        assert chat.app.chat.composer.text == "/setings" and not chat.engine.asked


async def test_an_overflow_says_how_many_tokens_and_a_key_drops_the_oldest_turns() -> None:
    async with sitting() as chat:
        for text in ("a" * 400, "b" * 400):
            await chat.send(text)
            chat.engine.answer(text.upper())
            await chat.until(lambda: not chat.app.session.busy)
        await chat.send("c" * 100)
        chat.engine.overflow(prompt_tokens=9192, context=8192)
        await chat.until(lambda: "overflow" in chat.notices)
        assert "1,000 tokens too many" in chat.notice("overflow")
        await chat.until(lambda: "✗ failed · too long for the context" in chat.screen_text())
        await chat.type("typing goes on")
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: len(chat.engine.asked) == 4)
        assert chat.engine.asked[-1][1][-1] == "c" * 100
        assert "a" * 400 not in chat.engine.asked[-1][1]
        assert chat.notices == [] and chat.app.chat.composer.text == "typing goes on"
        assert len(chat.app.session.conversation) == 3


async def test_a_dead_engine_says_why_shows_the_log_and_one_key_starts_it_again() -> None:
    async with sitting() as chat:
        await chat.send("before")
        chat.engine.answer("kept")
        await chat.until(lambda: not chat.app.session.busy)
        chat.engine.fail("The engine died (killed by signal 9).", "ggml_abort: out of memory", "[/INST] \x1b[2J")
        await chat.until(lambda: "failed" in chat.notices)
        await chat.until(lambda: "ggml_abort: out of memory" in chat.screen_text())
        text = chat.screen_text()
        assert "The engine died (killed by signal 9)." in text
        assert "\x1b" not in text and "[/INST]" in text
        await chat.send("typed while it is down")
        await chat.pilot.press("f5")
        await chat.until(lambda: len(chat.engine.started) == 2 and chat.engine.snapshot.phase is Phase.READY)
        await chat.until(lambda: chat.engine.asked[-1][1] == ["before", "kept", "typed while it is down"])
        assert chat.notices == []


HOSTILE = "[/ [/INST] [link=x] \x1b]52;c;aGk=\x07 \x1b[2J \u202e [b"


async def test_text_that_is_not_ours_is_never_markup_nor_a_control_sequence() -> None:
    async with sitting(model=HOSTILE) as chat:
        await chat.send(HOSTILE)
        chat.engine.piece(HOSTILE)
        chat.engine.done()
        chat.engine.fail(HOSTILE, HOSTILE)
        await chat.until(lambda: chat.screen_text().count("[/INST] [link=x]") >= 4)
        text = chat.app.export_screenshot() + chat.screen_text()
        assert not any(sign in text for sign in ("\x1b", "\x07", "\u202e"))
        assert str(chat.app.session.conversation.exchanges[0].answer) == HOSTILE, "what is kept is raw"


async def test_a_large_download_waits_for_a_key_and_typing_goes_on() -> None:
    async with sitting(ready=False) as chat:
        chat.engine.progress("Ling-3.0-flash-fp4 is 66 GB", None, Phase.ASKING)
        await chat.until(lambda: "ask" in chat.notices)
        await chat.type("meanwhile")
        assert chat.engine.confirmed == 0 and chat.app.chat.composer.text == "meanwhile"
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: chat.engine.confirmed == 1)


async def test_the_first_start_says_what_it_fetches(home: Path) -> None:
    async with sitting(ready=False) as chat:
        chat.engine.progress("Fetching SmolLM2-135M-Instruct (92.9 MB)", 0.25, Phase.FETCHING)
        await chat.until(lambda: "fetch" in chat.notices)
        assert "Welcome" in chat.notice("fetch") and "25%" in chat.screen_text()


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 20), (20, 5), (300, 80)])
async def test_badges_and_composer_are_there_at_every_size(size: tuple[int, int]) -> None:
    async with sitting(size=size) as chat:
        await chat.send("hello")
        chat.engine.piece("word " * 200)
        chat.engine.done()
        await chat.until(lambda: not chat.app.session.busy)
        header = "\n".join(chat.screen_text().splitlines()[:2])
        assert header.count("–") >= 2 and "●" in header
        await chat.type("still here")
        assert "still here" in chat.screen_text().splitlines()[-1]
        assert all(len(line) <= size[0] for line in chat.screen_text().splitlines())


async def test_a_conversation_is_written_to_a_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    async with sitting() as chat:
        await chat.send("remember me")
        chat.app.run_command("export", "json")
        await chat.until(lambda: (home / "remember-me.json").exists(), "the file")
        await chat.until(lambda: "remember-me.json" in chat.notice("said"), "the sentence")
    async with sitting("ui.history=false") as chat:
        await chat.send("forget me")
        chat.app.run_command("export")
        await chat.until(lambda: "Nothing is kept of this chat" in chat.notice("said"), "the sentence")
