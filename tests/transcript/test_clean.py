"""Whatever a model writes, no control sequence reaches the terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.text.clean import MARKS_AT_MOST, calm, clean

HOSTILE = "\x00\x07\x08\x0b\x0c\r\x1b\x7f\x80\x85\x9b\x9d\u2028\u2029"
HOSTILE += "\u202a\u202e\u2066\u2069\u200e\u200f\u061c\U000e0041\ud800"
texts = st.text(st.one_of(st.sampled_from(HOSTILE), st.characters(), st.sampled_from("[]/;52ca \n\t")))


@given(texts)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    cleaned = clean(text)
    left = {char for char in cleaned if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")}
    assert left <= {"\n", "\t"}
    assert not {char for char in cleaned if unicodedata.bidirectional(char) in BIDI_CONTROLS}
    cleaned.encode("utf-8")


BIDI_CONTROLS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(texts, texts)
def test_any_split_gives_the_same(first: str, second: str) -> None:
    assert clean(first) + clean(second) == clean(first + second)


@given(texts)
def test_cleaning_again_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_ordinary_text_is_left_alone() -> None:
    text = "Ünïcode, 日本語, 👩‍👩‍👧, עברית and\ttabs\nand lines"
    assert clean(text) == text


def test_escape_shows_as_a_picture() -> None:
    assert clean("\x1b]52;c;AAAA\x07") == "␛]52;c;AAAA␇"
    assert clean("a\x9b2Jb") == "a�2Jb"


def test_a_flood_of_marks_is_bounded() -> None:
    assert calm("e" + "\u0301" * 500 + "x") == "e" + "\u0301" * MARKS_AT_MOST + "x"
    assert calm("ก" + "็" * 90) == "ก" + "็" * MARKS_AT_MOST
    assert calm("שָׁלוֹם") == "שָׁלוֹם"
