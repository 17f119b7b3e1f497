"""What the screen says of an answer that shows no text yet or did not come to its end, and of prompts that wait."""

from __future__ import annotations

import pytest

from spark_chat.chat.conversation import Stage
from spark_chat.driver.snapshot import Piece
from spark_chat.engine.protocol import Failed
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.tui.quitting import AGAIN_WITHIN_S
from spark_chat.tui.transcribing import UNSEEN
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")
NOTHING = {
    "tokens": 0, "decode_tok_s": None, "ttft_s": None, "tpot_ms": None, "accept_length": None, "verify_steps": None,
}  # fmt: skip


def line(chat: Sitting, word: str) -> str:
    return next((line.strip() for line in chat.screen_text().splitlines() if word in line), "")


async def over(chat: Sitting) -> None:
    await chat.until(lambda: not chat.app.session.busy)


async def test_stopped_before_the_first_token_it_says_that_the_model_does_not_see_it_also_when_resumed() -> None:
    async with sitting() as chat:
        await chat.send("unanswered")
        await chat.pilot.press("escape")
        await chat.until(lambda: "stopping…" in chat.screen_text(), "a word at once")
        chat.engine.done(finish="abort", **NOTHING)
        await over(chat)
        await chat.until(lambda: line(chat, "■").endswith(f"■ stopped · {UNSEEN}"))
        assert line(chat, "■ stopped").count("stopped") == 1 and "tok/s" not in line(chat, "■ stopped")
        await chat.send("next")
        assert chat.engine.asked[-1][1] == ["next"]
        chat.engine.answer("fine")
        await over(chat)
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "fine" in chat.screen_text())
        assert UNSEEN in line(chat, "■ stopped")
        assert "SmolLM2" in chat.screen_text(), "a resumed answer is headed by its model"


async def test_a_stopped_answer_leaves_out_what_has_no_value() -> None:
    async with sitting() as chat:
        await chat.send("x")
        chat.engine.piece("one")
        chat.engine.done(finish="abort", **{**NOTHING, "tokens": 1, "ttft_s": 0.08})
        await chat.until(lambda: "■ stopped" in chat.screen_text())
        assert line(chat, "■ stopped").endswith("■ stopped · 1 tok · TTFT 0.08 s")


async def test_a_failed_answer_keeps_its_reason_on_the_line_also_when_resumed() -> None:
    failed = Failed(id="x", code="request", what="llama.cpp could not answer.", why="No.", remedy="", time=0.0)
    async with sitting() as chat:
        await chat.send("x")
        chat.engine.piece("so f")
        chat.engine.done(finish="failed", failure=failed, **NOTHING)
        await chat.until(lambda: "✗ failed · llama.cpp could not answer" in chat.screen_text())
        assert UNSEEN not in chat.screen_text()
    async with sitting() as chat:
        await chat.until(lambda: "resume" in chat.notices)
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "✗ failed · llama.cpp could not answer" in chat.screen_text())


async def test_a_prompt_that_is_read_shows_for_how_long_and_how_far() -> None:
    async with sitting() as chat:
        await chat.send("long")
        exchange = chat.app.session.conversation.exchanges[0]
        since = chat.app.clock()
        chat.app.clock.now += 7  # type: ignore[attr-defined]
        chat.app.chat.view.tell_reading(exchange, since)
        await chat.until(lambda: "reading the prompt · 7 s" in chat.screen_text())
        chat.engine.listener(Piece(exchange.id, "", "", AnswerNumbers(), reading=0.42))
        chat.app.chat.view.tell_reading(exchange, since)
        await chat.until(lambda: "reading the prompt · 7 s · 42%" in chat.screen_text())
        chat.engine.piece("word")
        await chat.until(lambda: "word" in chat.screen_text() and "reading" not in chat.screen_text())


async def test_stopping_is_said_below_what_came_and_while_more_comes() -> None:
    async with sitting() as chat:
        await chat.send("x")
        chat.engine.piece("one\n\ntwo")
        await chat.until(lambda: "two" in chat.screen_text())
        await chat.pilot.press("escape")
        await chat.until(lambda: "stopping…" in chat.screen_text())
        chat.engine.piece(" three\n\nfour")
        await chat.until(lambda: "four" in chat.screen_text())
        assert chat.screen_text().index("four") < chat.screen_text().index("stopping…")
        chat.engine.done(finish="abort")
        await chat.until(lambda: "stopping…" not in chat.screen_text() and "■ stopped" in chat.screen_text())


async def test_a_prompt_that_waits_for_the_engine_says_so_and_one_behind_another_its_turn() -> None:
    async with sitting(ready=False) as chat:
        await chat.send("early")
        await chat.until(lambda: "queued: sent when the engine is ready" in chat.screen_text())
        chat.engine.ready()
        await chat.until(lambda: "queued" not in chat.screen_text())
        await chat.send("second")
        await chat.until(lambda: "queued: sent when its turn comes" in chat.screen_text())


async def test_prompts_taken_back_are_marked_and_told_in_one_sentence() -> None:
    async with sitting() as chat:
        for text in ("first", "second", "third"):
            await chat.send(text)
        await chat.type("/clear-queue")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen_text().count("■ not sent") == 2)
        assert "2 prompts taken back" in chat.notice("said") and chat.screen_text().count("taken back") == 1
        screen = chat.screen_text()
        assert screen.index("second") < screen.index("■ not sent") < screen.index("third")


async def test_escape_says_what_follows_and_a_second_one_stops_all() -> None:
    async with sitting() as chat:
        for text in ("first", "second", "third"):
            await chat.send(text)
        await chat.pilot.press("escape")
        await chat.until(lambda: "2 prompts more will follow: esc again" in chat.notice("said"))
        assert "/clear-queue" in chat.notice("said")
        chat.engine.done(finish="abort")
        await chat.until(lambda: len(chat.engine.asked) == 2)
        await chat.pilot.press("escape")
        await chat.until(lambda: len(chat.engine.aborted) == 2)
        chat.engine.done(finish="abort", **NOTHING)
        await over(chat)
        assert len(chat.engine.asked) == 2
        assert [item.stage for item in chat.app.session.conversation] == [Stage.STOPPED] * 3


async def test_what_escape_says_stands_as_long_as_it_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[object, ...]] = []
    async with sitting() as chat:
        for text in ("first", "second"):
            await chat.send(text)
        monkeypatch.setattr(chat.app.chat.view, "say", lambda *given: said.append(given))
        await chat.pilot.press("escape")
        await chat.until(lambda: said)
        assert "will follow: esc again" in str(said[0][0]) and said[0][1:] == (AGAIN_WITHIN_S,)


async def test_a_second_escape_later_is_a_first_one() -> None:
    async with sitting() as chat:
        for text in ("first", "second", "third"):
            await chat.send(text)
        await chat.pilot.press("escape")
        chat.engine.done(finish="abort")
        await chat.until(lambda: len(chat.engine.asked) == 2)
        chat.app.clock.now += 2.1  # type: ignore[attr-defined]
        await chat.pilot.press("escape")
        chat.engine.done(finish="abort")
        await chat.until(lambda: len(chat.engine.asked) == 3)


async def test_the_meters_show_nothing_of_a_conversation_that_was_left_or_an_engine_that_is_gone() -> None:
    async with sitting() as chat:
        await chat.send("x")
        chat.engine.piece("y")
        chat.engine.done()
        await chat.until(lambda: "131.2 tok/s" in chat.meters and "3.1k / 8.2k" in chat.meters)
        chat.app.run_command("new")
        await chat.until(lambda: "context 0 / 8.2k" in chat.meters)
        assert chat.meters.startswith("- tok/s   accept -")
        await chat.send("z")
        chat.engine.piece("y")
        chat.app.run_command("new")
        chat.engine.done(finish="abort")
        await chat.pilot.pause()
        assert "context 0 / 8.2k" in chat.meters, "the end of an answer that was left moves nothing here"
        chat.app.run_command("resume")
        await chat.until(lambda: "Conversations ·" in chat.screen_text())
        await chat.pilot.press("down", "enter")
        await chat.until(lambda: "context 254 / 8.2k" in chat.meters, "the count of its last answer")
        chat.engine.fail("Dead.")
        await chat.until(lambda: "failed" in chat.notices)
        assert chat.meters == "- tok/s   accept -   queue 0"


async def test_a_count_of_another_model_is_not_known() -> None:
    async with sitting() as chat:
        await chat.send("x")
        chat.engine.answer("y")
        await over(chat)
    async with sitting(model="other-model") as chat:
        await chat.until(lambda: "resume" in chat.notices)
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "context - / 8.2k" in chat.meters)


async def test_fold_with_nothing_to_fold_says_so_and_the_next_action_takes_it_down() -> None:
    async with sitting() as chat:
        chat.app.run_command("fold")
        await chat.until(lambda: "nothing to fold" in chat.notice("said"))
        await chat.send("x")
        assert "said" not in chat.notices
