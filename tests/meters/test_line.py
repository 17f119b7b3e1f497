"""The line under an answer, and how numbers are written."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.meters import units
from spark_chat.meters.definitions import DEFINITIONS, definition, markdown
from spark_chat.meters.line import answer_line, known_parts
from spark_chat.meters.numbers import AnswerNumbers

FULL = AnswerNumbers(
    tokens=214, ttft_s=0.081, decode_tok_s=131.18, tpot_ms=7.623, accept_length=1.8319, verify_steps=117, finish="stop"
)


def test_the_line() -> None:
    assert answer_line(FULL) == "214 tok, 131.2 tok/s, TTFT 0.08 s, TPOT 7.6 ms, accept 1.83 (117 steps)"


def test_what_is_not_known_is_a_dash() -> None:
    assert answer_line(AnswerNumbers()) == "0 tok, - tok/s, TTFT -, TPOT -, accept -"


@pytest.mark.parametrize(
    ("finish", "said"),
    [("abort", "stopped"), ("length", "cut at max tokens"), ("context", "context full"), ("failed", "failed")],
)
def test_an_end_before_the_end_is_said(finish: str, said: str) -> None:
    assert answer_line(AnswerNumbers(tokens=3, finish=finish)).endswith(f", {said}")


def test_an_answer_cut_short_leaves_out_what_has_no_value() -> None:
    assert known_parts(AnswerNumbers(tokens=1, ttft_s=0.08)) == ["1 tok", "TTFT 0.08 s"]
    assert known_parts(AnswerNumbers()) == []


def test_cold_and_a_long_wait_are_said() -> None:
    line = answer_line(AnswerNumbers(tokens=3, waited_s=2.13, cold=True), separator=" · ")
    assert " · waited 2.13 s · cold" in line
    assert "waited" not in answer_line(AnswerNumbers(tokens=3, waited_s=0.1))


def test_an_answer_without_any_draft_says_so() -> None:
    none = replace(FULL, accept_length=1.0, verify_steps=213, proposed_drafts=0, accepted_drafts=0)
    assert answer_line(none).endswith("accept 1.00 (213 steps, no drafts)")
    assert answer_line(replace(none, proposed_drafts=4)).endswith("accept 1.00 (213 steps)")


def test_one_step_is_one_step() -> None:
    assert "accept 2.00 (1 step)" in answer_line(AnswerNumbers(tokens=3, accept_length=2.0, verify_steps=1))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (3100, "3.1k"), (262_144, "262k"), (999_600, "1.0M"), (4_194_304, "4.2M")],
)
def test_counts_in_few_columns(value: int, text: str) -> None:
    assert units.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(812, "812 B"), (1024, "1.0 KiB"), (98_362_432, "93.8 MiB"), (130_000_000_000, "121.1 GiB"), (None, "-")],
)
def test_bytes(value: int | None, text: str) -> None:
    assert units.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.081, "0.08 s"), (9.994, "9.99 s"), (9.996, "10.0 s"), (99.96, "1 min 40 s"), (3599.7, "60 min 00 s")],
)
def test_seconds(value: float, text: str) -> None:
    assert units.seconds(value) == text


@given(st.integers(0, 10**11))
def test_a_count_stays_short(value: int) -> None:
    assert len(units.count(value)) <= 9
    assert "1000k" not in units.count(value)


def test_every_number_has_a_definition() -> None:
    internal = {"finish", "reasoning_s", "accepted_histogram", "tokens"}
    for field in fields(AnswerNumbers):
        if field.name not in internal:
            assert definition(field.name).text.endswith(".")
    assert definition("completion_tokens").name == "tokens"


def test_the_table_is_a_table() -> None:
    rows = markdown().splitlines()
    assert len(rows) == len(DEFINITIONS) + 2
    assert {row.count("|") for row in rows} == {4}


def test_the_readme_holds_the_same_definitions() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    assert markdown() in readme.read_text(encoding="utf-8")
