"""The header and its badges at every width: nothing is lost but words, and states differ without colour."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from spark_chat.optimizations.optimization import Badge, State
from spark_chat.tui.widgets.badge import LABEL, SHORT, WORD, badge_text
from spark_chat.tui.widgets.header import PADDING, Title, fold, pending_text, title_text
from tests.tui.fake_driver import badges

FULL = Title("SmolLM2-135M-Instruct.Q4_1", "llama.cpp b9999", "CPU")


def test_a_badge_without_a_draft_says_that_in_place_of_starting() -> None:
    badge = Badge("mtp", "n-gram", State.STARTING, True, word="no draft yet")
    assert badge_text(badge, WORD) == "… n-gram no draft yet"
    assert badge_text(badge, LABEL) == "… n-gram"


@pytest.mark.parametrize("detail", [WORD, LABEL, SHORT])
def test_states_are_told_apart_without_colour(detail: str) -> None:
    texts = {badge_text(Badge("mtp", "MTP", state, True), detail) for state in State}
    assert len(texts) == len(State)


def test_failure_is_said_in_a_word_even_where_room_is_short() -> None:
    assert badge_text(Badge("mtp", "MTP", State.FAILED, True), LABEL) == "✗ MTP failed"


@pytest.mark.parametrize(
    ("detail", "expected"), [(WORD, "● MTP active, off at restart"), (LABEL, "● MTP →off"), (SHORT, "●M→")]
)
def test_a_pending_change_stands_on_the_badge(detail: str, expected: str) -> None:
    assert badge_text(Badge("mtp", "MTP", State.ACTIVE, True, pending="off at restart"), detail) == expected


def test_a_warning_stands_on_the_badge() -> None:
    assert "!" in badge_text(Badge("mtp", "MTP", State.ACTIVE, True, warning="Accept length is 1.00."), LABEL)


def test_the_title_gives_up_words_from_the_least_needed() -> None:
    forms = [title_text(FULL, width).plain for width in (70, 50, 45, 34, 26, 20)]
    assert forms == [
        "spark-chat  SmolLM2-135M-Instruct.Q4_1 · llama.cpp b9999 · CPU",
        "SmolLM2-135M-Instruct.Q4_1 · llama.cpp b9999 · CPU",
        "SmolLM2-135M-Instruct.Q4_1 · llama.cpp · CPU",
        "SmolLM2-135M-Instruct.Q4_1 · CPU",
        "SmolLM2-135M-Instruct.Q4_1",
        "SmolLM2-135M-Instru…",
    ]


def test_at_120_columns_states_are_words_and_at_40_there_are_two_lines() -> None:
    assert fold(badges(), FULL, 140, 40).detail == WORD
    assert fold(badges(), FULL, 80, 24).rows == 1
    assert fold(badges(), FULL, 80, 24).detail == LABEL
    assert (fold(badges(), FULL, 40, 20).rows, fold(badges(), FULL, 40, 20).detail) == (2, LABEL)
    assert (fold(badges(), FULL, 20, 5).rows, fold(badges(), FULL, 20, 5).detail) == (1, SHORT)


@given(
    st.integers(1, 320),
    st.integers(1, 90),
    st.text(max_size=80),
    st.integers(0, 30),
    st.sampled_from(list(State)),
    st.sampled_from([None, "on at restart", "off at restart"]),
)
def test_whatever_runs_the_header_fits(
    width: int, height: int, model: str, pending: int, state: State, waits: str | None
) -> None:
    shown = (*badges()[:2], Badge("mtp", "MTP", state, True, warning="w", pending=waits))
    title = Title(model, "SGLang 0.5.23", "GB10", pending)
    found = fold(shown, title, width, height)
    text = title_text(title, found.title)
    assert "\n" not in text.plain and not any(ord(char) < 32 for char in text.plain)
    inside = width - 2 * (PADDING if width >= 40 else 1)
    gap = 1 if found.detail == SHORT else 2
    line = sum(cell_len(badge_text(badge, found.detail)) + gap for badge in shown)
    if width >= 20:
        taken = cell_len(text.plain) + (line if found.rows == 1 else 0)
        assert taken <= inside + 1
        assert found.rows == 1 or line - gap <= inside


def test_pending_changes_are_counted() -> None:
    assert pending_text(2, 40) == "→ 2 changes pending (f5)"
    assert pending_text(1, 12) == "→ 1 pending"
    assert pending_text(12, 3) == "→12"
    assert pending_text(0, 40) == ""
