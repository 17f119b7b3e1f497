"""How the list of conversations looks: rows, dates and hints that fit."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.history.message import Hit, Listed
from spark_chat.tui.talks.keys import KEYS, hint
from spark_chat.tui.talks.rows import hit_row, row, when
from tests.tui.sitting import sitting
from tests.tui.talks_sitting import open_list, talk

pytestmark = pytest.mark.usefixtures("home")


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
