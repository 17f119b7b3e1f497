"""Rate and time left, of figures made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.pull.pull import Standing
from spark_chat.pull.rate import WINDOW_S, Rate


@given(st.integers(1, 10**9), st.integers(3, 200))
def test_a_steady_stream_has_its_rate(per_s: int, ticks: int) -> None:
    rate = Rate()
    for tick in range(ticks * 5):
        rate.feed(tick / 5, per_s * tick // 5)
    assert rate.bytes_per_s == pytest.approx(per_s, rel=0.01, abs=2)
    assert rate.left_s(per_s * 60) == pytest.approx(60, rel=0.05, abs=60)


def test_a_stream_that_stops_comes_to_nothing() -> None:
    rate = Rate()
    assert rate.bytes_per_s is None
    rate.feed(0, 0)
    rate.feed(0.5, 10**9)
    assert rate.bytes_per_s is None, "too soon to tell"
    for second in range(1, 30):
        rate.feed(second, 10**9)
    assert rate.bytes_per_s == 0 and rate.left_s(5) is None
    assert WINDOW_S == 10


def test_a_line_for_a_person() -> None:
    line = Standing(31_200_000_000, 66_000_000_000, 84_100_000, 413.0, "").text
    assert line == "31.2 of 66.0 GB, 84.1 MB/s, 6 min 53 s left"
    assert Standing(1_000_000, 2_000_000, None, None, "checking what is here").text == (
        "1.0 of 2.0 MB (checking what is here)"
    )
