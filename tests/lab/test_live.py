"""The table of a check while it grows, at any width."""

from __future__ import annotations

import pytest

from spark_chat.lab import live
from spark_chat.meters.numbers import AnswerNumbers
from tests.lab.scripted import answer

DRAFTED = {"accept_length": 2.0, "accepted_histogram": [1, 0, 30], "verify_steps": 31}
ANSWERS = [
    answer(role="warm-up", round=0, cold=True),
    *(answer(round=at, tok_s=100.0 + at, **DRAFTED) for at in (1, 2, 3)),
]


@pytest.mark.parametrize("width", [36, 76, 200])
def test_it_fits_and_loses_nothing(width: int) -> None:
    lines = live.check_lines(ANSWERS, None, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert all(name in text for name in live.RUN_COLUMNS) and "warm-up, cold" in text
    rows = {line.split()[0]: line.split() for line in lines if line[:1].isalpha()}
    assert rows["min"][1] == "101.0" or width == 36
    assert text.count("median") == text.count("warm-up, cold") == sum(line.startswith("run") for line in lines)
    bars = [line for line in lines if line.endswith("%")]
    assert len(bars) == 3 and bars[2].split()[0] == "2" and bars[2].split()[-2] == "97"
    assert bars[2].count("█") == min(24, width - 20) and "█" not in bars[1] and "▏" not in bars[1]


def test_the_run_under_way_is_told_from_those_that_ended() -> None:
    now = AnswerNumbers(tokens=7, prompt_tokens=20, cached_tokens=5, ttft_s=0.1, cold=True)
    row = next(line for line in live.check_lines([], now) if line.startswith("now"))
    assert row.split() == ["now,", "cold", "-", "-", "0.10", "s", "-", "-", "7", "5/20"]
    assert not any(line.startswith(("min", "now")) for line in live.check_lines(ANSWERS[:1]))
