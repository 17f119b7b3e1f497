"""Accessible mode: nothing is drawn again by itself, nothing is drawn with lines, tables are read row by row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.engine.protocol import Progress, Statistics
from spark_chat.text.blocks import BlockSplitter
from spark_chat.text.palette import Palette
from spark_chat.text.render import pieces_of
from spark_chat.tui.screens.quiet_view import Held, ticks
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")

TABLE = "| name | size |\n|---|---|\n| **a** | 1 |\n| b | 2 |\n\n> said\n\n---\n\n- one\n\n```\ncode\n```\n\nend\n"


def drawn(text: str) -> list[str]:
    """Signs of boxes, lines and bars: what a screen reader spells out."""
    return [char for char in text if "\u2500" <= char <= "\u259f" or "\u2800" <= char <= "\u28ff"]


def spoken(markdown: str, width: int = 60) -> list[str]:
    splitter = BlockSplitter()
    blocks = [*splitter.feed(markdown), *splitter.finish()]
    palette = Palette(plain=True)
    return [row.text.rstrip() for block in blocks for piece in pieces_of(block) for row in piece.rows(width, palette)]


def test_a_table_is_read_row_by_row() -> None:
    lines = spoken(TABLE)
    assert lines[:3] == ["Table: name, size", "name: a; size: 1", "name: b; size: 2"]
    assert not drawn("\n".join(line for line in lines if not line.startswith("▌")))


async def test_no_screen_has_lines_or_boxes(home: Path) -> None:
    async with sitting("ui.accessible=true") as chat:
        await chat.send("x")
        chat.engine.piece(TABLE)
        chat.engine.done()
        await chat.until(lambda: "name: b; size: 2" in chat.screen_text(), "the table")
        await chat.until(lambda: "131.2 tok/s" in chat.meters, "the numbers")
        assert not drawn(chat.screen_text())
        for command, seen in (("help", "Every key"), ("settings", "engine.kind"), ("log", "log ·")):
            chat.app.run_command(command)
            await chat.until(lambda seen=seen: seen in chat.screen_text(), command)
            assert not drawn(chat.screen_text()), command
            await chat.pilot.press("escape")
            await chat.until(lambda: chat.app.screen is chat.app.chat, "the chat")
        chat.app.run_command("resume")
        await chat.until(lambda: chat.app.screen is not chat.app.chat, "the list")
        await chat.pilot.pause()
        assert not drawn(chat.screen_text()), chat.screen_text()
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.app.chat, "the chat")
        await chat.pilot.press("ctrl+p")
        await chat.until(lambda: "/help" in chat.screen_text(), "the palette")
        assert not drawn(chat.screen_text())


async def test_an_answer_comes_by_lines_and_its_thought_when_it_is_over() -> None:
    async with sitting("ui.accessible=true") as chat:
        await chat.send("x")
        chat.engine.piece("", reasoning="hm")
        chat.engine.piece("first line\nsecond ")
        await chat.until(lambda: "first line" in chat.screen_text(), "the line")
        assert "second" not in chat.screen_text() and "▸" not in chat.screen_text()
        chat.engine.done()
        await chat.until(lambda: "second" in chat.screen_text() and "▸" in chat.screen_text(), "the rest")


async def test_lines_that_were_a_thought_fold_away() -> None:
    async with sitting("ui.accessible=true") as chat:
        await chat.send("x")
        chat.engine.piece("first line\nsecond ")
        await chat.until(lambda: "first line" in chat.screen_text(), "the line")
        chat.engine.piece("the answer\n", "\n", was_thought=True)
        await chat.until(lambda: "the answer" in chat.screen_text(), "the answer")
        assert "first line" not in chat.screen_text()
        chat.engine.done()
        await chat.until(lambda: "▸" in chat.screen_text(), "the fold")
        exchange = chat.app.session.conversation.exchanges[0]
        assert (str(exchange.answer), str(exchange.reasoning)) == ("the answer\n", "first line\nsecond \n")
        chat.app.run_command("fold")
        await chat.until(lambda: "second" in chat.screen_text(), "the thought")


async def test_a_sentence_stays_till_something_is_done() -> None:
    async with sitting("ui.accessible=true") as chat:
        chat.app.run_command("fold")
        assert "nothing to fold" in chat.notice("said")
        assert not _timers(chat)
        await chat.send("x")
        await chat.until(lambda: "said" not in chat.notices, "its end")


def _timers(chat: Sitting) -> bool:
    return getattr(chat.app.chat.view, "_saying", None) is not None


BASE = Snapshot(phase=Phase.STARTING, progress=Progress(stage="weights", fraction=0.1, text="1 of 9", time=0))


def test_figures_alone_are_no_news() -> None:
    on = replace(BASE, statistics=Statistics(memory_bytes=5, time=1), context_used=7)
    assert ticks(BASE, on)
    assert ticks(BASE, replace(on, progress=Progress(stage="weights", fraction=0.2, text="2 of 9", time=1)))
    assert not ticks(BASE, replace(on, progress=Progress(stage="graphs", text="", time=1)))
    assert not ticks(BASE, replace(on, phase=Phase.READY))


@given(st.lists(st.tuples(st.text("ab\n", max_size=5), st.text("r", max_size=2)), max_size=8))
def test_nothing_that_is_held_is_lost(pieces: list[tuple[str, str]]) -> None:
    held, shown = Held(), ""
    held.begin("a")
    for text, reasoning in pieces:
        ready = held.add(text, reasoning)
        assert not ready or ready.endswith("\n")
        shown += ready
    rest, reasoning = held.rest()
    assert shown + rest == "".join(text for text, _ in pieces)
    assert "\n" not in rest and reasoning == "".join(part for _, part in pieces)
