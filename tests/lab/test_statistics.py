"""Medians, intervals and tests: against figures from books and from brute force."""

from __future__ import annotations

from itertools import product
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_chat.lab import statistics

floats = st.floats(0.1, 1_000)
groups = st.dictionaries(st.sampled_from("abc"), st.lists(floats, min_size=1, max_size=6), min_size=1)


@settings(max_examples=15, deadline=None)
@given(groups)
def test_the_interval_holds_the_median_and_stays_in_the_data(runs: dict[str, list[float]]) -> None:
    every = [value for values in runs.values() for value in values]
    found = statistics.interval(runs)
    assert found is not None and found.median == median(every) and found.n == len(every)
    if len(every) == 1:
        assert (found.low, found.high) == (None, None)
    else:
        assert found.low is not None and found.high is not None
        assert min(every) <= found.low <= found.high <= max(every)


def test_the_same_numbers_give_the_same_interval() -> None:
    runs = {"a": [10.0, 11.0, 12.5, 9.0], "b": [20.0, 21.0, 19.5]}
    assert statistics.interval(runs) == statistics.interval(runs)
    assert statistics.interval({}) is None and statistics.interval({"a": []}) is None


def test_the_interval_is_about_what_theory_says() -> None:
    """Of 99 values 1..99 the median's 95 % interval by order statistics is 40..60."""
    found = statistics.interval({"a": [float(value) for value in range(1, 100)]})
    assert found is not None and found.low is not None and found.high is not None
    assert abs(found.low - 40) <= 2 and abs(found.high - 60) <= 2


def test_prompts_of_different_speed_do_not_widen_the_interval() -> None:
    steady = {"slow": [10.0, 10.1, 9.9], "middle": [50.0, 50.1, 49.9], "fast": [100.0, 100.1, 99.9]}
    found = statistics.interval(steady)
    assert found is not None and found.low is not None and found.high is not None
    assert 49.8 < found.low <= found.high < 50.2


def test_a_ratio_is_taken_prompt_by_prompt() -> None:
    first = {"slow": [10.0, 10.0], "fast": [100.0, 100.0], "gone": [1.0]}
    other = {"slow": [20.0, 20.0], "fast": [150.0, 150.0], "new": [1.0]}
    found = statistics.ratio(first, other)
    assert found is not None
    assert (found.median, found.low, found.high, found.n) == (1.75, 1.75, 1.75, 2)
    assert statistics.ratio({"a": [1.0]}, {"b": [1.0]}) is None
    single = statistics.ratio({"a": [2.0]}, {"a": [3.0]})
    assert single is not None and (single.median, single.low) == (1.5, None)
    unrepeated = statistics.ratio({"a": [2.0], "b": [2.0]}, {"a": [3.0], "b": [1.0]})
    assert unrepeated is not None and (unrepeated.low, unrepeated.high) == (0.5, 1.5)


def test_wilson_as_published() -> None:
    """Newcombe 1998, table I: 81 of 263 is .2553 to .3662, 0 of 20 is 0 to .1611."""
    assert statistics.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert statistics.wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert statistics.wilson(20, 20)[1] == 1.0 and statistics.wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("one, other", [(0, 0), (1, 0), (3, 9), (9, 3), (5, 5), (0, 8)])
def test_mcnemar_against_every_possible_split(one: int, other: int) -> None:
    n = one + other
    as_unequal = sum(abs(2 * sum(split) - n) >= abs(one - other) for split in product((0, 1), repeat=n))
    assert statistics.mcnemar(one, other) == pytest.approx(as_unequal / 2**n)


def test_mcnemar_of_many_questions() -> None:
    assert statistics.mcnemar(600, 700) == pytest.approx(0.00603, rel=0.01)
