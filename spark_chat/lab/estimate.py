"""How long a measurement takes yet: the answers and the starts that are left, each at what it took so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from statistics import mean

from spark_chat.lab.plan import REPEATED, Plan
from spark_chat.lab.results import Answer, AnyFound, Ordering, Start, first_start_s, settled

Stay = tuple[int, int | str]
"""A configuration, and the round or the role for which its engine is up."""


def left_s(plan: Plan, found: Sequence[AnyFound], fell: Collection[int] = ()) -> float | None:
    """Seconds, from all that was `found`; None before any answer was. `fell`: configurations that are asked nothing
    more."""
    answers = [item for item in found if isinstance(item, Answer) and item.role != "warm-up"]
    took = _took(found)
    if not took:
        return None
    order = settled(found) or plan.ordering(first_start_s(found))
    left = _left(plan, order, answers, fell)
    starts = len(left.keys() - {_stay(order, answers[-1])})
    return left.total() * mean(took) + starts * mean(_starts(found) or [0.0])


def _took(found: Sequence[AnyFound]) -> list[float]:
    """Of each answer, seconds: up to the next, for prompts that are made to measure take their time too."""
    times = [following.at_s - item.at_s for item, following in pairwise(found)
             if isinstance(item, Answer) and isinstance(following, Answer) and item.role != "warm-up"]  # fmt: skip
    last = found[-1] if found else None
    if isinstance(last, Answer) and last.role != "warm-up" and last.latency_s is not None:
        times.append(last.latency_s)
    return times


def _starts(found: Sequence[AnyFound]) -> list[float]:
    """Of each start, seconds up to the first answer that is no warm-up."""
    times, began = [], None
    for item in found:
        if isinstance(item, Start):
            began = item.at_s if item.failure is None else None
        elif isinstance(item, Answer) and item.role != "warm-up" and began is not None:
            times.append(item.at_s - began)
            began = None
    return times


def _stay(order: Ordering | None, answer: Answer) -> Stay:
    return answer.configuration, answer.round if order == "interleaved" else answer.role


def _left(plan: Plan, order: Ordering | None, answers: Sequence[Answer], fell: Collection[int]) -> Counter[Stay]:
    """How many answers are left in each stay."""
    items, left = len(plan.workload.items), Counter[Stay]()
    for configuration in range(len(plan.configurations)):
        for round in range(1, plan.rounds + 1):
            left[configuration, round if order == "interleaved" else "measured"] += items
    if order == "ordered":
        left[0, "repeat"] = min(REPEATED, items)
    left.subtract(_stay(order, answer) for answer in answers)
    return Counter({stay: count for stay, count in left.items() if count > 0 and stay[0] not in fell})
