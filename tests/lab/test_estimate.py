"""How long it takes yet: answers and starts each at what they took."""

from __future__ import annotations

from typing import Any

import pytest

from spark_chat.lab.estimate import left_s
from spark_chat.lab.results import AnyFound, Order, Start
from tests.lab.scripted import answer, plan


def stay(
    configuration: int, at_s: float, *asked: tuple[str, int], start_s: float = 5.0, **fields: Any
) -> list[AnyFound]:
    """A start, a warm-up of a second, and answers that take two seconds each."""
    found: list[AnyFound] = [Start(configuration=configuration, at_s=at_s, ready_s=start_s)]
    found.append(answer(configuration, "a", 0, role="warm-up", at_s=at_s + start_s, latency_s=1.0))
    for place, (item, round) in enumerate(asked):
        when = at_s + start_s + 1 + 2 * place
        found.append(answer(configuration, item, round, at_s=when, latency_s=2.0, **fields))
    return found


def test_nothing_is_known_before_the_first_answer() -> None:
    assert left_s(plan(), []) is None and left_s(plan(), stay(0, 0.0)) is None


@pytest.mark.parametrize(
    "start_s, left",
    [
        (5.0, 7 * 2 + 3 * 6.0),  # interleaved: of eight answers seven, and three engines more
        (
            60.0,
            9 * 2 + 2 * 61.0,
        ),  # ordered: the two of the repeat too; the second configuration's engine and the repeat's
    ],
)
def test_after_the_first_answer_it_knows_what_starts_take(start_s: float, left: float) -> None:
    assert left_s(plan(rounds=2), stay(0, 0.0, ("a", 1), start_s=start_s)) == left


def test_a_configuration_that_fell_is_waited_for_no_more() -> None:
    found = [*stay(0, 0.0, ("a", 1), ("b", 1)), Order(order="interleaved"), Start(configuration=1, failure="No.")]
    assert left_s(plan(rounds=2), found, {1}) == 2 * 2 + 6.0


def test_one_that_goes_on_knows_from_what_was_measured_before() -> None:
    before = [Order(order="interleaved"), *stay(0, 0.0, ("a", 1), ("b", 1)), *stay(1, 10.0, ("a", 1))]
    now = stay(1, 0.0, ("b", 1))
    assert left_s(plan(rounds=2), [*before, *now]) == pytest.approx(4 * 2 + 2 * 6.0)
    whole = [*stay(1, 8.0, ("a", 2), ("b", 2)), *stay(0, 20.0, ("a", 2), ("b", 2))]
    assert left_s(plan(rounds=2), [*before, *now, *whole]) == 0


def test_prompts_that_take_long_to_make_count_as_what_they_take() -> None:
    """Of one configuration, in three rounds: the second answer was asked nine seconds after the first."""
    found = stay(0, 0.0, ("a", 1))
    found += [answer(0, "a", 2, at_s=15.0, latency_s=2.0)]
    assert left_s(plan("mtp=on", names=["a"], rounds=3), found) == pytest.approx((9.0 + 2.0) / 2)
