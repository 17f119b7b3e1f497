"""One prompt, several times, on the engine that is up: what the chat's check screen does."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from spark_chat.driver.asking import Asking, Driving
from spark_chat.driver.snapshot import Phase, Update
from spark_chat.lab.figures import badge_json
from spark_chat.lab.item import GREEDY, Workload
from spark_chat.lab.measure import Measure
from spark_chat.lab.plan import Plan
from spark_chat.lab.prompts import of_text
from spark_chat.lab.results import Answer, AnyFound, Order, Visit
from spark_chat.lab.runner import start_of
from spark_chat.lab.variation import Configuration
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings

RUNS = 5


@dataclass(frozen=True)
class Options:
    """How a prompt is checked. `sampled`: by the chat's own sampling instead of greedily. `fixed_length`: ignore the
    end of the text. `fresh`: defeat the prefix cache."""

    runs: int = RUNS
    max_tokens: int = 256
    sampled: bool = False
    fixed_length: bool = False
    fresh: bool = False


def plan_of(text: str, options: Options, settings: Settings) -> Plan:
    """The plan for one prompt under the settings as they run."""
    workload = Workload("check", (of_text(text),), GREEDY)
    return Plan(
        (Configuration("as it runs", settings),), workload, options.runs, sampled=options.sampled, fresh=options.fresh,
        max_tokens=options.max_tokens, ignore_eos=options.fixed_length, salt=secrets.token_hex(8),
    )  # fmt: skip


class Check:
    """On `driver`, whose listener hands its updates to `take`. `on_answer` and `on_piece` look on."""

    def __init__(
        self,
        plan: Plan,
        driver: Driving,
        on_answer: Callable[[Answer], None],
        on_piece: Callable[[AnswerNumbers], None],
    ) -> None:
        self.plan, self._driver, self._on_answer = plan, driver, on_answer
        self._asking = Asking(lambda listener: driver)
        began = time.monotonic()
        self._measure = Measure(self._asking, plan, lambda: time.monotonic() - began, on_piece)
        self.found: list[AnyFound] = [Order(order="single")]

    def take(self, update: Update) -> bool:
        """One update of the driver. False where it is none of this check's."""
        return self._asking.take(update)

    def interrupt(self) -> None:
        """End soon; what was measured is kept."""
        self._asking.interrupt()

    @property
    def interrupted(self) -> bool:
        return self._asking.interrupted

    async def run(self) -> list[AnyFound]:
        """Warm up, as many turns as are still cold but one at least, and measure. Ends early where the engine does."""
        snapshot = self._driver.snapshot
        if snapshot.phase is not Phase.READY or snapshot.ready is None:
            return self.found
        self.found.append(start_of(0, 0.0, snapshot, {}))
        for answer in await self._measure.warm_up(0, max(1, snapshot.ready.cold_turns - snapshot.turns)):
            self._take(answer)
        (item,) = self.plan.workload.items
        for round in range(1, self.plan.rounds + 1):
            if not self._asking.ready:
                break
            found = await self._measure.answer(0, 0, item, round, "measured")
            if found is None:
                break
            self._take(found)
            if found.failure:
                break
        snapshot = self._driver.snapshot
        badges = {badge.name: badge_json(badge) for badge in snapshot.badges}
        memory = snapshot.statistics.memory_bytes if snapshot.statistics else None
        self.found.append(Visit(configuration=0, optimizations=badges, memory_bytes=memory))
        return self.found

    def _take(self, answer: Answer) -> None:
        self.found.append(answer)
        self._on_answer(answer)
