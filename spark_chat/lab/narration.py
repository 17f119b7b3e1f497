"""What `bench run` says while it goes on, a line at a time, for a person."""

from __future__ import annotations

import time
from collections.abc import Callable

from spark_chat.driver.snapshot import Snapshot
from spark_chat.lab.plan import Plan
from spark_chat.lab.results import Answer, AnyFound, Order, Start
from spark_chat.lab.runner import Standing
from spark_chat.meters import units
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.optimizations.optimization import State

EVERY_S = 5.0
"""Between two lines about answers; a start, a failure and a new round are told at once."""


class Narration:
    """`say` takes one line."""

    def __init__(self, plan: Plan, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._plan, self._say, self._clock = plan, say, clock
        self._said_at = 0.0
        self._notes: set[str] = set()
        self._round = (-1, -1)

    def snapshot(self, snapshot: Snapshot) -> None:
        """Why it is this engine and model, once; what is fetched; what is varied and can't be had here."""
        for note in snapshot.recipe.notes if snapshot.recipe else ():
            self._once(note)
        progress = snapshot.progress
        if progress is not None and progress.stage in ("fetch", "ask"):
            self._once(progress.text)
        for badge in snapshot.badges:
            if badge.state is State.UNAVAILABLE and f"optimizations.{badge.name}" in self._plan.keys:
                self._once(f"{badge.label} is not to be had here: {badge.reason.rstrip('.')}. Its rows measure the "
                           "same with and without it.")  # fmt: skip

    def _once(self, text: str) -> None:
        if text and text not in self._notes:
            self._notes.add(text)
            self._say(text)

    def found(self, found: AnyFound, standing: Standing) -> None:
        if isinstance(found, Order) and found.order != "single":
            self._say({
                "interleaved": "A restart is quick here: the rounds of all configurations are interleaved.",
                "ordered": "A restart takes long here: one configuration after the other, the first again at the end.",
            }[found.order])  # fmt: skip
        elif isinstance(found, Start):
            name = self._plan.configurations[found.configuration].name
            if found.failure:
                self._say(f"✗ {name}: {found.failure}")
            else:
                self._say(f"{name}: up after {units.seconds(found.ready_s)}")
        elif isinstance(found, Answer) and found.role != "warm-up":
            self._answer(found, standing)

    def _answer(self, answer: Answer, standing: Standing) -> None:
        at = (answer.configuration, answer.round)
        if at == self._round and self._clock() - self._said_at < EVERY_S and not answer.failure:
            return
        self._round, self._said_at = at, self._clock()
        name = self._plan.configurations[answer.configuration].name
        where = "once more" if answer.role == "repeat" else f"round {answer.round} of {self._plan.rounds}"
        what = answer.failure or (
            f"{units.rate(answer.decode_tok_s)} tok/s, TTFT {units.seconds(answer.ttft_s)}, "
            f"accept {units.accept(answer.accept_length)}"
        )
        left = "" if not standing.left_s else f", about {_about(standing.left_s)} left"
        self._say(f"{standing.done} of {standing.all}{left} · {name} · {where} · {answer.item}: {what}")

    def piece(self, numbers: AnswerNumbers) -> None:
        """Too fine for lines."""


def _about(seconds: float) -> str:
    """An estimate, no finer than it is good for."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"
