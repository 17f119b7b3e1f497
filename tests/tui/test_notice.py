"""Notices: what stands above the composer, and how it is cut to the room there is."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.chat.conversation import Exchange
from spark_chat.chat.session import Overflow
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.engine.protocol import Failed, Progress
from spark_chat.tui import commands, notices
from spark_chat.tui.widgets.notice import Notice, bar, notice_text
from tests.tui.sitting import sitting


def test_every_key_that_a_notice_shows_is_a_command_of_the_table() -> None:
    shown = {notices.GO_ON, notices.RESTART, notices.SETTINGS}
    assert all((command := commands.find(action)) and command.keys for action in shown)
    assert {"esc": "escape"}[notices.DISMISS] in {key for command in commands.COMMANDS for key in command.keys}


def test_progress_has_a_bar_and_in_accessible_mode_words_alone() -> None:
    notice = Notice("start", "Starting the engine", fraction=0.5)
    assert "━" in notice_text(notice, 80, 3).plain and " 50%" in notice_text(notice, 80, 3).plain
    assert notice_text(notice, 80, 3, plain=True).plain == "· Starting the engine"
    assert bar(0.5, 10) == "━━━━━─────  50%"


@given(
    st.text(max_size=200), st.lists(st.text(max_size=200), max_size=5), st.lists(st.text(max_size=300), max_size=20),
    st.integers(8, 200), st.integers(1, 20),
)  # fmt: skip
def test_a_notice_never_takes_more_than_its_lines(
    title: str, body: list[str], log: list[str], width: int, lines: int
) -> None:
    notice = Notice("failed", title, tuple(body), (("f5", "start again"),), tuple(log), fraction=0.3)
    text = notice_text(notice, width, lines)
    shown = text.plain.split("\n")
    assert len(shown) <= lines
    assert all(ord(char) >= 32 for line in shown for char in line)


def test_what_does_not_fit_is_the_logs_begin_not_the_keys() -> None:
    notice = Notice("failed", "Dead", ("Why.",), (("f5", "start again"),), tuple(f"log {n}" for n in range(20)))
    shown = notice_text(notice, 80, 5).plain.split("\n")
    assert shown == ["· Dead", "  Why.", "  │ log 18", "  │ log 19", "  f5 start again"]


def test_a_failure_says_what_why_and_what_to_do_and_that_prompts_are_kept() -> None:
    failed = Failed(code="load", what="It did not load.", why="No such file.", remedy="Give a path.", time=0.0)
    snapshot = Snapshot(phase=Phase.FAILED, failure=failed, log_end=("a", "b"))
    notice = notices.engine_notice(snapshot, 2, "", True)
    assert notice is not None and notice.title == "It did not load."
    assert notice.body == ("No such file.", "Give a path.", "2 prompts will be sent when the engine is ready.")
    assert notice.quoted == ("a", "b") and not notice.accept


def test_phases_without_anything_to_say_have_no_notice() -> None:
    for phase in (Phase.IDLE, Phase.READY, Phase.STOPPED):
        assert notices.engine_notice(Snapshot(phase=phase), 0, "", True) is None


def test_a_download_shows_its_own_words() -> None:
    progress = Progress(stage="fetch", fraction=0.2, text="SmolLM2, 18.6 of 92.9 MB", time=0.0)
    notice = notices.engine_notice(Snapshot(phase=Phase.FETCHING, progress=progress), 0, "", False)
    assert notice is not None and notice.title == "SmolLM2, 18.6 of 92.9 MB" and "Welcome" in notice.body[0]


def test_a_prompt_that_no_dropping_helps_is_told_to_be_shortened() -> None:
    notice = notices.overflow_notice(Overflow(Exchange(id="a", prompt="x"), 9001, 8192, 0))
    assert "809 tokens too many" in notice.title and "shorten it" in notice.body[0] and not notice.accept
    notice = notices.overflow_notice(Overflow(Exchange(id="a", prompt="x"), 9001, 8192, 0, at_least=True))
    assert notice.title.startswith("At least 809 tokens too many: the conversation has at least 9,001, ")


@pytest.mark.usefixtures("home")
async def test_the_failure_goes_away_with_escape_and_comes_back_with_the_next_one() -> None:
    async with sitting() as chat:
        chat.engine.fail("First.")
        await chat.until(lambda: chat.notices == ["failed"])
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.notices == [])
        await chat.pilot.press("f5")
        await chat.until(lambda: len(chat.engine.started) == 2)
        chat.engine.fail("Second.")
        await chat.until(lambda: chat.notices == ["failed"])
        assert "Second." in chat.notice("failed")


@pytest.mark.usefixtures("home")
async def test_in_accessible_mode_the_meters_move_once_an_answer_is_over() -> None:
    async with sitting("ui.accessible=true") as chat:
        await chat.send("x")
        before = chat.meters
        chat.engine.piece("word ")
        chat.engine.piece("word\nhalf a ")
        await chat.until(lambda: "word word" in chat.screen_text())
        assert "half a" not in chat.screen_text()
        assert chat.meters == before
        chat.engine.done()
        await chat.until(lambda: "131.2 tok/s" in chat.meters)


@pytest.mark.usefixtures("home")
async def test_what_there_is_no_room_for_can_not_be_accepted_or_put_away_unseen() -> None:
    long = Notice("failed", "It failed.", ("why " * 60,), dismissable=False)
    offer = Notice("tour", "A tour?", ("Four short steps.",), accept="tour")
    async with sitting(size=(40, 20)) as chat:
        view = chat.app.chat.view
        view.put(long)
        view.put(offer)
        await chat.until(lambda: "It failed." in chat.screen_text())
        assert "A tour?" not in chat.screen_text() and view.accept == "" and not view.dismiss()
        view.take_down("failed")
        await chat.until(lambda: "A tour?" in chat.screen_text())
        assert view.accept == "tour" and view.dismiss() and chat.notices == []


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("size", [(40, 20), (80, 24)])
async def test_the_prompt_stays_in_view_while_a_paste_is_looked_at(size: tuple[int, int]) -> None:
    async with sitting(size=size) as chat:
        chat.app.chat.view.put(Notice("tour", "A tour?", ("Many words. " * 30,), accept="tour"))
        chat.app.chat.composer.paste("a pasted line\n" * 60)
        await chat.pilot.press("alt+o")
        await chat.until(lambda: "a pasted line" in chat.screen_text())
        await chat.until(lambda: chat.app.chat.composer.prompt.region.bottom <= size[1], "the prompt")
        await chat.until(lambda: "pasted 8" in chat.screen_text().splitlines()[-1], "the chip, in one line")
        assert chat.app.chat.max_scroll_y == 0
        await chat.pilot.press("escape")
        await chat.until(lambda: "Many words." in chat.screen_text(), "the notice, whole again")


@pytest.mark.usefixtures("home")
async def test_what_is_said_goes_by_the_app_s_clock() -> None:
    async with sitting() as chat:
        later = asyncio.Event()
        chat.app.chat.view.say("A sentence.", 0.01)
        chat.app.set_timer(0.1, later.set)
        await later.wait()
        assert "A sentence." in chat.notice("said"), "its time has not passed"
        chat.app.clock.now += 1  # type: ignore[attr-defined]
        await chat.until(lambda: "said" not in chat.notices)
