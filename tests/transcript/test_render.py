"""Every row fits the width, every letter shows, and nothing but our own cleaning decides what a terminal gets."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from spark_chat.text.blocks import Block, BlockSplitter
from spark_chat.text.clean import clean
from spark_chat.text.palette import Palette
from spark_chat.text.piece import Figures, Plain
from spark_chat.text.render import pieces_of, rows_of_piece
from spark_chat.text.row import NO_LEAD, Lead, Row
from tests.transcript.test_blocks import documents

LINES = st.sampled_from([
    "日本語のテキストはどこでも折り返せます",
    "- 漢字 and 👩‍👩‍👧‍👦 family ❤️", "x" * 300, "https://example.org/" + "a/" * 90,
    "e" + "\u0301" * 50, "\t\ttabs\there", "| 日本 | 👍🏽 | c |", "|:-:|--:|", "| **b** | `c` | d | e |",
    "![alt](http://i)", "**bold *both* ~~gone~~** `code`", "[text](http://a.b 'title') <http://auto.link>",
    "  \u200d\ufe0f", "> " * 15 + "deep", "1. " * 9 + "n", "א ב ג שלום", "<b>html</b> &lt;", "a\\*b \\[x\\]",
    "```日 x", "   - x", "__init__ snake_case_name",
])  # fmt: skip
mixed = st.lists(LINES | documents, max_size=6).map("\n".join)


def rendered(text: str, width: int) -> list[Row]:
    splitter = BlockSplitter()
    blocks = splitter.feed(clean(text)) + splitter.finish()
    return [row for block in blocks for piece in pieces_of(block) for row in rows_of_piece(piece, width, Palette())]


@given(mixed | st.text(max_size=200), st.integers(10, 300))
@example("|a" * 60 + "\n" + "|-" * 60, 10)
def test_rows_fit(text: str, width: int) -> None:
    for row in rendered(text, width):
        assert row.width <= width
        assert row.width == cell_len(row.text) == sum(cell_len(part.text) for part in row.segments)
        assert row.lead + row.fill <= len(row.text)


@given(mixed, st.integers(10, 300))
def test_every_letter_shows(text: str, width: int) -> None:
    letters = Counter(char for char in text if char.isalpha() and char not in "lt")  # &lt; is an entity
    shown = Counter(char for row in rendered(text, width) for char in row.text)
    assert not letters - shown


ENTITIES = "&#x202E; &#27; &#x9b; &#9; &#10; &Tab; &NewLine; &lrm; &#8232; | [x](&#x202E;)"


@given(st.text(max_size=300), st.integers(10, 120))
@example("a\tb", 20)
@example(f"{ENTITIES}\n\n# {ENTITIES}\n\n| a {ENTITIES} |\n|---|---|\n| {ENTITIES} |\n", 40)
def test_no_control_character_is_left(text: str, width: int) -> None:
    for row in rendered(text, width):
        assert clean(row.text) == row.text and "\t" not in row.text
        assert all(not part.control and not (part.style and part.style.link) for part in row.segments)


@given(mixed, st.integers(10, 100))
def test_the_palette_never_changes_the_rows(text: str, width: int) -> None:
    from rich.style import Style

    bright = Palette({"text": Style(color="red"), "code": Style(bgcolor="blue")}, "│ ")
    splitter = BlockSplitter()
    for block in splitter.feed(clean(text)) + splitter.finish():
        for piece in pieces_of(block):
            plain, other = rows_of_piece(piece, width, Palette()), rows_of_piece(piece, width, bright)
            assert [row.width for row in plain] == [row.width for row in other]


def test_a_defect_in_drawing_shows_the_text() -> None:
    class Broken(Plain):
        def rows(self, width: int, palette: Palette) -> list[Row]:
            raise ValueError

    assert [row.text for row in rows_of_piece(Broken("the text"), 20, Palette())] == ["the text"]


def test_links_and_images_show_where_they_lead() -> None:
    text = "[here](http://a.b) <http://c.d> ![a cat](http://e.f/g.png) [http://h.i](http://h.i)"
    assert rendered(text, 200)[0].text == ("here (http://a.b) http://c.d [image: a cat] (http://e.f/g.png) http://h.i")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "| a | b |\n|:-:|--:|\n| 1 | 22 |\n| long one | 3 |\n",
            ["   a       b", "────────  ──", "   1      22", "long one   3"],
        ),
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 | 4 |\n", ["a  b", "─  ─────────", "1  2 | 3 | 4"]),
    ],
)
def test_tables(source: str, expected: list[str]) -> None:
    assert [row.text.rstrip() for row in rendered(source, 60)] == expected


def test_a_huge_block_is_plain() -> None:
    pieces = pieces_of(Block("*a* " * 200_000, "paragraph"))
    assert all(isinstance(piece, Plain) for piece in pieces)
    assert "".join(piece.source for piece in pieces) == "*a* " * 200_000


@given(st.integers(4, 120), st.sampled_from([NO_LEAD, Lead((("■ stopped · ", "warning"),), ((" " * 12, "text"),))]))
def test_a_number_and_its_unit_stay_together(width: int, lead: Lead) -> None:
    parts = ["goes on after 326 tok: 86 tok", "36.5 tok/s", "TTFT 0.06 s", "TPOT 27.4 ms", "accept 1.00 (12 steps)"]
    rows = Figures(" · ".join(parts), lead=lead).rows(width, Palette())
    lines = [row.text[row.lead :] for row in rows]
    assert " ".join(lines).replace("  ", " ").count("·") == 4 and not any("\xa0" in line for line in lines)
    room = width - lead.fitting(width).width
    for part in parts:
        if len(part) + 2 <= room:
            assert any(part in line for line in lines), part
    assert all(row.width <= max(width, 1) for row in rows)
