"""What a handful of runs says: medians with bootstrap intervals, ratios, Wilson's interval, McNemar's exact test.

Pure, and the same for the same numbers: the bootstrap draws from a generator with a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median

CONFIDENCE = 0.95
DRAWS = 1_000
"""Resamples a bootstrap takes: the ends of a 95 % interval then stand on 25 draws each."""
SEED = 20_241
Z = 1.959963984540054
"""The normal quantile of 97.5 %."""

Groups = Mapping[str, Sequence[float]]
"""The runs of each prompt."""


@dataclass(frozen=True)
class Interval:
    """A median with its interval. `low` and `high` are None where a single value says nothing of the spread."""

    median: float
    low: float | None
    high: float | None
    n: int

    def as_json(self) -> dict[str, float | int | None]:
        return {"median": self.median, "low": self.low, "high": self.high, "n": self.n}


def interval(groups: Groups) -> Interval | None:
    """Median of all runs and its 95 % percentile bootstrap interval; None without any.

    The prompts are taken as given, so runs are drawn anew within each prompt: the interval says how much the figure
    would move if the same prompts were run again. Where no prompt ran twice, prompts are drawn anew instead.
    """
    pools = [list(values) for values in groups.values() if values]
    if not pools:
        return None
    every = [value for pool in pools for value in pool]
    drawn = _drawn(_strata(pools), lambda resample: median([value for pool in resample for value in pool]))
    low, high = _ends(drawn) if len(every) > 1 else (None, None)
    return Interval(median(every), low, high, len(every))


def ratio(first: Groups, other: Groups) -> Interval | None:
    """`other` over `first`, prompt by prompt: the median over the prompts that both have of the ratios of the
    prompts' medians, with its 95 % percentile bootstrap interval. `n`: prompts. None where they share none.

    Runs of both are drawn anew within each prompt; where none ran twice, prompts are drawn anew.
    """
    shared = [name for name in first if first[name] and other.get(name)]
    if not shared or any(min(first[name]) <= 0 for name in shared):
        return None
    pairs = [(list(first[name]), list(other[name])) for name in shared]
    value = median([median(new) / median(old) for old, new in pairs])
    if max(len(pool) for pair in pairs for pool in pair) > 1:
        random = Random(SEED)
        drawn = [
            median([median(random.choices(new, k=len(new))) / median(random.choices(old, k=len(old)))
                    for old, new in pairs])
            for _ in range(DRAWS)
        ]  # fmt: skip
    elif len(pairs) > 1:
        ratios = [new[0] / old[0] for old, new in pairs]
        drawn = _drawn([ratios], lambda resample: median(resample[0]))
    else:
        return Interval(value, None, None, 1)
    low, high = _ends(drawn)
    return Interval(value, low, high, len(pairs))


def _strata(pools: list[list[float]]) -> list[list[float]]:
    """What is drawn from: each prompt's runs, or all of them where no prompt has two."""
    return pools if any(len(pool) > 1 for pool in pools) else [[value for pool in pools for value in pool]]


def _drawn(strata: list[list[float]], statistic: Callable[[list[list[float]]], float]) -> list[float]:
    random = Random(SEED)
    return [statistic([random.choices(pool, k=len(pool)) for pool in strata]) for _ in range(DRAWS)]


def _ends(drawn: list[float]) -> tuple[float, float]:
    ordered = sorted(drawn)
    tail = (1 - CONFIDENCE) / 2
    return ordered[math.floor(tail * (len(ordered) - 1))], ordered[math.ceil((1 - tail) * (len(ordered) - 1))]


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share. (0, 1) without any trial.

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n), Wilson 1927.
    """
    if n == 0:
        return 0.0, 1.0
    share, square = successes / n, Z * Z
    centre = share + square / (2 * n)
    half = Z * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    low, high = (centre - half) / (1 + square / n), (centre + half) / (1 + square / n)
    # At the ends the bound is the end itself; rounding must not put it a hair beside.
    return 0.0 if successes == 0 else low, 1.0 if successes == n else high


def mcnemar(only_first: int, only_other: int) -> float:
    """McNemar's exact two-sided p: that so unequal a split of the questions that one alone answered right is chance.

    Twice the smaller tail of a fair binomial over the discordant questions, at most 1.
    """
    n, fewer = only_first + only_other, min(only_first, only_other)
    tail = sum(math.comb(n, count) for count in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << n))
