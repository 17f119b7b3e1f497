"""Exact counts of one answer of llama.cpp, from the figures that come with its chunks.

What llama.cpp gives with a chunk (`timings`): `predicted_n`, ids so far, exact for each id, the end-of-answer id
counted in; `draft_n` and `draft_n_accepted`, which jump by a whole step at the step's first id; `predicted_ms`, the
same for all ids of one step and different for any two steps. Not every id has a chunk: part of a character, a
thinking tag and the end-of-answer id come with the next one.

So a step starts where a step's ids are used up, holds one id more than `draft_n_accepted` grew by, and ids that a
stop cuts off inside it are those that never came. Counted of a cut step: the ids that came, all of them drafts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Counts:
    """`tokens` ids, `steps` verify steps after the prefill, `accepted` drafts among the ids, `proposed` drafts.

    tokens = 1 + steps + accepted, less one where the last step was cut before its own id.
    """

    tokens: int
    steps: int
    accepted: int
    proposed: int
    cut: int
    """Ids of the last step that were computed and never came."""


class Steps:
    """Follows one answer."""

    def __init__(self) -> None:
        self.ids = 0
        """Ids so far."""
        self.last_draft: int | None = None
        """Drafts proposed in the last step that had any."""
        self._grown = 0
        self._drafted = 0
        self._moment = -1.0
        self._left = 0  # ids of the step under way that have not come
        self._size = 0  # drafts accepted in it
        self._bars: Counter[int] = Counter()  # drafts accepted -> steps that accepted any

    def take(self, timings: dict[str, Any]) -> None:
        """One chunk's `timings`, in the order that they came."""
        ids = int(timings.get("predicted_n", 0))
        grown = int(timings.get("draft_n_accepted", 0))
        drafted = int(timings.get("draft_n", 0))
        moment = float(timings.get("predicted_ms", 0.0))
        more, accepted = ids - self.ids, grown - self._grown
        if more <= 0:
            return
        if drafted > self._drafted:
            self.last_draft = drafted - self._drafted
        if accepted:
            # The step that accepted them began among these ids: after those of the step before, as early as it may,
            # with at least one id of its own here and at most all.
            here = max(1, min(more - self._left, accepted + 1))
            self._left, self._size = accepted + 1 - here, accepted
            self._bars[accepted] += 1
        elif moment == self._moment:
            self._left = max(0, self._left - more)
        else:
            self._left = 0
        self.ids, self._grown, self._drafted, self._moment = ids, grown, drafted, moment

    def end_uncut(self) -> None:
        """The answer ended where no step can be cut: at max_tokens, which llama.cpp never drafts past."""
        self._left = 0

    def settle(self, drafted: int) -> None:
        """The answer ended, and the engine counted `drafted` steps with a draft: no fewer steps can there have been.

        Where every step has a draft, as with a model's own block, that alone gives the ids that were cut.
        """
        self._left = max(self._left, self._grown + drafted + 1 - self.ids)

    def counts(self) -> Counts:
        """So far. Within a step its ids that have not come yet count as cut."""
        if self.ids == 0:
            return Counts(0, 0, 0, self._drafted, 0)
        cut = self._left
        steps = self.ids - 1 - self._grown + cut
        return Counts(self.ids, steps, self._grown - cut + (1 if cut else 0), self._drafted, cut)

    def histogram(self, whole: list[int] | None = None) -> list[int] | None:
        """Index = drafts accepted in a step, value = steps; None where that can't be told.

        `whole`: the engine's own count of all steps with a draft, the same shape. It is better where two steps came
        with one chunk; it is wrong for an answer that was stopped from here, which the engine may have run on.
        """
        counts = self.counts()
        size = max(self._bars, default=0)
        for bars in (whole, [0, *(self._bars[index] for index in range(1, size + 1))]):
            if bars is not None and (fitted := self._fitted(list(bars) or [0], counts)) is not None:
                return fitted
        return None

    def _fitted(self, bars: list[int], counts: Counts) -> list[int] | None:
        """`bars` with steps without a draft put in and the cut step where it belongs; None where it can't agree."""
        if counts.cut:
            if self._size >= len(bars) or bars[self._size] < 1:
                return None
            bars[self._size] -= 1
            bars[self._size + 1 - counts.cut] += 1
        bars[0] += counts.steps - sum(bars)
        while len(bars) > 1 and bars[-1] == 0:
            bars.pop()
        agrees = bars[0] >= 0 and sum(index * steps for index, steps in enumerate(bars)) == counts.accepted
        return bars if agrees else None


def counters(metrics: str) -> dict[str, float]:
    """llama.cpp's metrics text -> its totals by name; `n_decode_total` counts calls: prefill batches and steps."""
    found = {}
    for line in metrics.splitlines():
        name, _, value = line.rpartition(" ")
        if not line.startswith("#") and "{" not in name and name.endswith("_total"):
            found[name.rpartition(":")[2]] = float(value)
    return found


def whole_steps(metrics: str) -> list[int]:
    """llama.cpp's metrics text -> steps with a draft so far, by drafts accepted."""
    drafts, by_position = 0, {}
    for line in metrics.splitlines():
        if line.startswith("#"):
            continue
        name, _, value = line.rpartition(" ")
        if name.endswith("spec_decode_num_drafts_total"):
            drafts = int(float(value))
        elif "num_accepted_tokens_per_pos_total{" in name:
            by_position[int(name.split('"')[1])] = int(float(value))
    reached = [drafts, *(by_position[position] for position in sorted(by_position))]
    return [at - beyond for at, beyond in zip(reached, [*reached[1:], 0], strict=True)]
