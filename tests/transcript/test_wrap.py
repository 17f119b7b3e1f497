"""Rows fit, nothing is lost, and what comes later changes the end only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from spark_chat.text import wrap as module
from spark_chat.text.wrap import wrap

lines = st.text(st.sampled_from("ab c  日本👩‍\u0301\ufe0f1️x—é"), max_size=120) | st.text(
    st.characters(blacklist_characters="\n\r", blacklist_categories=("Cs", "Cc")), max_size=80
)


@given(lines, st.integers(2, 40))
def test_rows_fit_and_nothing_is_lost(text: str, width: int) -> None:
    rows = wrap(text, width)
    assert all(cell_len(text[start:end]) <= width for start, end, _ in rows)
    assert "".join(text[start:end] + join for start, end, join in rows) == text + "\n"
    assert [join for _, _, join in rows].count("\n") == 1


@given(st.text("ab  ", max_size=120), st.integers(1, 20))
def test_both_ways_agree(text: str, width: int) -> None:
    assert module._wrap_narrow(text, width) == module._wrap_graphemes(text, width)


@given(lines, lines, st.integers(2, 30))
def test_what_comes_later_changes_the_last_two_rows_at_most(text: str, more: str, width: int) -> None:
    before, after = wrap(text, width), wrap(text + more, width)
    assert after[: len(before[:-2])] == before[:-2]
