"""The estimate of a start's end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.meters.session import Stage
from spark_chat.meters.time_left import said, time_left

LAST = (Stage("start", 30), Stage("weights", 300), Stage("graphs", 60), Stage("warm-up", 10))


@pytest.mark.parametrize(
    ("stage", "elapsed", "fraction", "left"),
    [
        ("start", 0, None, 400), ("start", 10, None, 390), ("start", 99, None, 370),
        ("weights", 150, 0.5, 220), ("weights", 300, 0.5, 370), ("weights", 1, 0.01, 367), ("weights", 9, 1.0, 70),
        ("warm-up", 5, 0.5, 5), ("warm-up", 5, None, 5), ("kernels", 1, 0.5, None),
    ],
)  # fmt: skip
def test_by_hand(stage: str, elapsed: float, fraction: float | None, left: float | None) -> None:
    assert time_left(LAST, stage, elapsed, fraction) == (None if left is None else pytest.approx(left))


def test_nothing_is_known_of_a_first_start() -> None:
    assert time_left((), "weights", 1, 0.5) is None


@given(st.sampled_from([stage.name for stage in LAST]), st.floats(0, 1e5), st.none() | st.floats(0, 1))
def test_never_negative_and_all_later_stages_count(stage: str, elapsed: float, fraction: float | None) -> None:
    names = [one.name for one in LAST]
    later = sum(one.seconds for one in LAST[names.index(stage) + 1 :])
    left = time_left(LAST, stage, elapsed, fraction)
    assert left is not None and left >= later
    assert fraction != 1.0 or left == pytest.approx(later)


@pytest.mark.parametrize(
    ("left", "words"),
    [(None, ""), (0.0, ""), (2.9, ""), (4, "about 5 s left"), (41, "about 40 s left"), (56, "about 1 min left"),
     (170, "about 3 min left")],
)  # fmt: skip
def test_in_words(left: float | None, words: str) -> None:
    assert said(left) == words
