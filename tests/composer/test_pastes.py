"""What a paste is, what a chip holds, and that nothing is altered on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import TextArea

from spark_chat.tui.composer import chips, pastes
from spark_chat.tui.composer.chips import Chips

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
MARKS = st.sampled_from(
    ["\U00100000", "\U00100001 pasted 3 B · 1 line\U0010fffd", "\U0010fffd", "⧉ pasted 3 B · 1 line"]
)


@pytest.mark.parametrize(
    ("pasted", "meant"),
    [
        ("a\rb\r", "a\nb\n"),
        ("a\nb\n", "a\nb\n"),
        ("a\r\nb", "a\r\nb"),
        ("a\rb\nc", "a\rb\nc"),
        ("\r", "\n"),
        ("", ""),
    ],
)
def test_cr_alone_is_the_terminals_doing_and_anything_with_lf_is_kept(pasted, meant):
    assert pastes.received(pasted) == meant


@given(ANY)
def test_what_counts_as_plain_passes_a_text_area_unaltered(text):
    if pastes.is_plain(text):
        assert TextArea(text).text == text
        assert "\x1b" not in text


@pytest.mark.parametrize("code", [0, 7, 11, 12, 13, 27, 28, 29, 30, 127, 0x85, 0x9B, 0x2028, 0x2029, 0x202E, 0x2066])
def test_what_a_text_area_alters_or_a_terminal_obeys_is_not_plain(code):
    assert not pastes.is_plain(f"a{chr(code)}b")


@pytest.mark.parametrize(
    "text", ["a\tb\nc", "é漢字", "👩\u200d👩\u200d👧", "\ue0b0 \U000f0001", "नमस्ते", "می\u200cخواهم"]
)
def test_what_people_write_is_plain(text):
    assert pastes.is_plain(text)


def test_long_texts_do_not_fit():
    assert pastes.fits_inline("x" * pastes.INLINE_CHARACTERS) and not pastes.fits_inline("x" * 2_001)
    assert pastes.fits_inline("x\n" * 11) and not pastes.fits_inline("x\n" * 12)


@given(st.lists(ANY | MARKS | st.just("x" * 3_000), max_size=8))
def test_what_is_composed_is_what_was_admitted(texts):
    held = Chips()
    document = "".join(held.admit(text) for text in texts)
    assert held.compose(document) == "".join(texts)
    assert all(pastes.is_plain(text) or chips.has_chip(document) for text in texts)


@given(st.lists(ANY, min_size=1, max_size=5))
def test_the_line_shown_is_as_long_as_the_line_kept(texts):
    held = Chips()
    line = "".join(held.mark(text) for text in texts).replace("\n", " ")
    assert len(held.shown(line)) == len(line)
    assert pastes.is_plain(held.shown(line)) and len(chips.spans(line)) == len(texts)


def test_texts_no_document_holds_are_forgotten():
    held = Chips()
    kept, gone = held.mark("kept"), held.mark("gone")
    held.keep_only([f"a {kept} b"])
    assert held.compose(kept) == "kept" and held.compose(gone) == ""


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("x" * 1_048_576, " pasted 1.0 MB · 1 line"),
        ("x\n" * 16_384, " pasted 32.8 kB · 16,384 lines"),
        ("a\r\nb", " pasted 4 B · 2 lines"),
        ("é" * 400, " pasted 800 B · 1 line"),
        ("x" * 999_960, " pasted 1.0 MB · 1 line"),
    ],
)
def test_the_label_gives_bytes_and_lines(text, label):
    assert chips.label(text) == label
