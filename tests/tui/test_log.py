"""The log screen: the end of the log, what comes, and only what the filter lets through."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from spark_chat.logs.files import app_file
from spark_chat.tui.screens.log import LogLines, LogScreen
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def log(home: Path) -> Path:
    path = app_file().parent / "worker-1.log"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"line {number} [/INST] \x1b[2J\n" for number in range(300)) + "x" * 200 + "\n")
    return path


def shown(chat: Sitting) -> list[str]:
    found = chat.app.screen.query(LogLines)
    return found.first().lines if found else []


async def test_it_shows_the_end_and_what_comes_and_filters(log: Path) -> None:
    async with sitting() as chat:
        chat.app.chat.composer.set_text("being written")
        await chat.pilot.press("f9")
        await chat.until(lambda: len(shown(chat)) == 301, "the lines")
        await chat.until(lambda: "line 299 [/INST]" in chat.screen_text(), "the end")
        with log.open("a") as file:
            file.write("an error came\n")
        await chat.until(lambda: "an error came" in chat.screen_text(), "what came")
        await chat.type("error -line")
        await chat.until(lambda: shown(chat) == ["an error came"], "the filter")
        assert "1 of 302 lines" in chat.screen_text()
        await chat.pilot.press("escape")
        await chat.until(lambda: not isinstance(chat.app.screen, LogScreen), "the chat")
        assert chat.app.chat.composer.text == "being written"


async def test_lines_break_between_words(log: Path) -> None:
    with log.open("a") as file:
        file.write("prompt eval time = 790.60 ms / 32 tokens (24.71 ms per token, 40.48 tokens per second)\n")
    async with sitting(size=(40, 20)) as chat:
        await chat.pilot.press("f9")
        await chat.until(lambda: "tokens per second)" in chat.screen_text(), "the end")
        lines = [line.rstrip() for line in chat.screen_text().splitlines()]
        assert [line.strip() for line in lines[-4:-1]] == [
            "prompt eval time = 790.60 ms / 32", "tokens (24.71 ms per token, 40.48", "tokens per second)"
        ]  # fmt: skip


async def test_who_scrolled_up_stays_there(log: Path) -> None:
    async with sitting() as chat:
        await chat.pilot.press("f9")
        await chat.until(lambda: len(shown(chat)) == 301, "the lines")
        await chat.pilot.press("pageup")
        lines = chat.app.screen.query_one(LogLines)
        await chat.until(lambda: 0 < lines.scroll_offset.y < lines.max_scroll_y, "the page before")
        at = lines.scroll_offset.y
        with log.open("a") as file:
            file.write("one more\n")
        await chat.until(lambda: len(shown(chat)) == 302, "what came")
        assert lines.scroll_offset.y == at


async def test_the_other_log_and_none(log: Path) -> None:
    app_file().write_text("2026 engine ready\n")
    async with sitting() as chat:
        chat.app.run_command("log", "ready")
        await chat.until(lambda: isinstance(chat.app.screen, LogScreen) and "engine log" in chat.screen_text(), "it")
        assert chat.app.screen.query_one(Input).value == "ready"
        await chat.pilot.press("f9")
        await chat.until(lambda: any("engine ready" in line for line in shown(chat)), "the app's")
        assert "app log" in chat.screen_text()


async def test_in_accessible_mode_it_is_read_when_asked(log: Path) -> None:
    async with sitting("ui.accessible=true") as chat:
        await chat.pilot.press("f9")
        await chat.until(lambda: len(shown(chat)) == 301, "the lines")
        with log.open("a") as file:
            file.write("one more\n")
        await chat.pilot.press("ctrl+r")
        await chat.until(lambda: len(shown(chat)) == 302, "what came")


@pytest.mark.parametrize("size", [(40, 20), (20, 6), (200, 50)])
async def test_it_fits(log: Path, size: tuple[int, int]) -> None:
    async with sitting(size=size) as chat:
        chat.app.run_command("log")
        await chat.until(lambda: isinstance(chat.app.screen, LogScreen) and len(shown(chat)) == 301, "the lines")
        await chat.pilot.pause()
        assert all(len(line) <= size[0] for line in chat.screen_text().splitlines())
        assert chat.app.screen.query_one(LogLines).size.height >= 1
