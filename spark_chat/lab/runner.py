"""A plan carried out: engines started in their order, prompts asked, everything found handed on as it comes.

Where a restart is cheap the rounds are interleaved, back and forth (1 2, 2 1, …), so that a machine that slows down
slows all alike. Where it is not, each configuration has all its rounds at once, and the first one is asked again at the
end: what changed since the beginning is drift.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from spark_chat.driver.asking import Asking
from spark_chat.driver.asking import Driving as Asked
from spark_chat.driver.snapshot import Phase, Snapshot, Update
from spark_chat.lab.estimate import left_s
from spark_chat.lab.figures import badge_json
from spark_chat.lab.measure import Measure
from spark_chat.lab.plan import REPEATED, Plan
from spark_chat.lab.results import Answer, AnyFound, Order, Ordering, Role, Start, Visit, first_start_s, settled
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.meters.session import Stage
from spark_chat.recipe.recipe import Recipe
from spark_chat.settings.schema import Settings


class Driving(Asked, Protocol):
    """What the lab needs of the driver."""

    async def close(self) -> None: ...


class StageKeeper:
    """Stands in for what the chat remembers of its last start: a measurement's configurations are none of the
    chat's, and the stages' times go to the record."""

    def __init__(self) -> None:
        self.stages: tuple[Stage, ...] = ()

    def read(self) -> Settings | None:
        return None

    def last_stages(self, recipe: Recipe, cold: bool) -> tuple[Stage, ...]:
        return ()

    def write(self, settings: Settings, recipe: Recipe, stages: tuple[Stage, ...], cold: bool) -> None:
        self.stages = stages

    def taken(self) -> dict[str, float]:
        """Seconds by name; a stage that came twice took what both took."""
        times: dict[str, float] = {}
        for stage in self.stages:
            times[stage.name] = times.get(stage.name, 0.0) + stage.seconds
        self.stages = ()
        return times


@dataclass(frozen=True)
class Standing:
    """How far it is. `left_s`: an estimate from what was done so far; None before anything was."""

    configuration: int
    round: int
    done: int
    all: int
    left_s: float | None


class Watcher(Protocol):
    """Whoever looks on; nothing it does may block."""

    def snapshot(self, snapshot: Snapshot) -> None: ...
    def found(self, found: AnyFound, standing: Standing) -> None: ...
    def piece(self, numbers: AnswerNumbers) -> None: ...


@dataclass(frozen=True)
class _Stay:
    """One stay at a configuration: these rounds, as `role`."""

    configuration: int
    rounds: tuple[int, ...]
    role: Role = "measured"


class Runner:
    """`make`: a driver for a listener and a keeper of its stages. `known`: what an earlier run of the same plan found,
    which is not asked again. `interrupt()` may be called at any time."""

    def __init__(
        self,
        plan: Plan,
        make: Callable[[Callable[[Update], None], StageKeeper], Driving],
        watcher: Watcher,
        known: Iterable[AnyFound] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan, self._watcher, self._monotonic = plan, watcher, clock
        self._keeper = StageKeeper()
        drivers: list[Driving] = []

        def keep(listener: Callable[[Update], None]) -> Driving:
            drivers.append(make(listener, self._keeper))
            return drivers[0]

        self._asking = Asking(keep, watcher.snapshot)
        self._driver = drivers[0]
        self._began = clock()
        self.found: list[AnyFound] = list(known)
        self._done = {_key(item) for item in self.found if isinstance(item, Answer) and item.whole}
        self._answered = sum(isinstance(item, Answer) and item.counts for item in self.found)
        self._fell: set[int] = set()
        self.interrupted = False
        """Whether an interrupt cut it off: one that comes after its last answer cuts nothing off."""
        self._measure = Measure(self._asking, plan, self._clock, watcher.piece)

    def interrupt(self) -> None:
        """End soon; what was measured is kept."""
        self._asking.interrupt()

    def _clock(self) -> float:
        return self._monotonic() - self._began

    async def run(self) -> list[AnyFound]:
        """All that was found, what was known before counted in. The engine is stopped at the end."""
        try:
            for stay in self._stays(settled(self.found)):
                if self._asking.interrupted:
                    break
                await self._stay(stay)
            self.interrupted = self._asking.interrupted
            return self.found
        finally:
            await self._driver.close()

    # ------------------------------------------------------------------ the order

    def _stays(self, known: Ordering | None) -> Iterable[_Stay]:
        """The stays in their order. The first start tells whether a restart is cheap: the first stay is for one round,
        and goes on to the others where it is not."""
        plan, rounds = self._plan, tuple(range(1, self._plan.rounds + 1))
        count = len(plan.configurations)
        order = known or plan.ordering(None)
        if order is None:
            for configuration in range(count):
                yield _Stay(configuration, rounds[:1])
                if first_start_s(self.found) is not None:
                    break
            order = plan.ordering(first_start_s(self.found)) or "ordered"
            # In the second case the engine is up already: `_stay` asks on without another start.
        if known is None:
            self._take(Order(order=order))
        if order != "interleaved":
            for configuration in range(count):
                yield _Stay(configuration, rounds)
            if count > 1:
                yield _Stay(0, (plan.rounds + 1,), "repeat")
            return
        for round in rounds:
            for configuration in range(count) if round % 2 else reversed(range(count)):
                yield _Stay(configuration, (round,))

    # ------------------------------------------------------------------ one stay

    async def _stay(self, stay: _Stay) -> None:
        wanted = list(self._wanted(stay))
        if not wanted or stay.configuration in self._fell:
            return
        if self._at != stay.configuration and not await self._start(stay.configuration):
            return
        items = self._plan.workload.items
        for round, place in wanted:
            if not self._asking.ready:
                break
            answer = await self._measure.answer(stay.configuration, place, items[place], round, stay.role)
            if answer is None:
                break
            self._take(answer)
            if answer.failure and items[place].tokens is not None and self._asking.ready:
                self._fell.add(stay.configuration)  # a prompt that can't be made to measure can't be the next time
                break
        self._leave(stay.configuration)

    _at: int | None = None
    """The configuration whose first stay may go on without another start."""

    def _wanted(self, stay: _Stay) -> Iterable[tuple[int, int]]:
        items = self._plan.workload.items
        most = REPEATED if stay.role == "repeat" else len(items)
        for round in stay.rounds:
            for place, item in enumerate(items[:most]):
                if (stay.configuration, item.name, round, stay.role) not in self._done:
                    yield round, place

    async def _start(self, configuration: int) -> bool:
        self._at = None
        began = self._clock()
        settings = self._plan.configurations[configuration].settings
        # None may outlive its turn: the next one needs the memory, and a start must be a start.
        await self._asking.start(replace(settings, engine=replace(settings.engine, linger_s=0)))
        snapshot = self._driver.snapshot
        if self._asking.interrupted:
            return False  # the snapshot may be that of the engine before
        start = start_of(configuration, began, snapshot, self._keeper.taken())
        self._take(start)
        if start.failure is not None:
            self._fell.add(configuration)
            return False
        turns = snapshot.ready.cold_turns if snapshot.ready else 1
        for answer in await self._measure.warm_up(configuration, turns):
            self._take(answer)
        return True

    def _leave(self, configuration: int) -> None:
        snapshot = self._driver.snapshot
        statistics = snapshot.statistics
        self._take(
            Visit(
                configuration=configuration,
                optimizations={badge.name: badge_json(badge) for badge in snapshot.badges},
                memory_bytes=statistics.memory_bytes if statistics else None,
            )
        )
        if snapshot.phase is Phase.FAILED and snapshot.failure is not None:
            self._fell.add(configuration)
            self._take(Start(configuration=configuration, at_s=self._clock(), failure=_sentence(snapshot)))
        stays = {item.configuration for item in self.found if isinstance(item, Visit)}
        self._at = configuration if stays == {configuration} and configuration not in self._fell else None

    # ------------------------------------------------------------------ what is found

    def _take(self, found: AnyFound) -> None:
        self.found.append(found)
        if isinstance(found, Answer):
            self._done.add(_key(found))
            self._answered += found.role == "measured"
        self._watcher.found(found, self._standing(found))

    def _standing(self, found: AnyFound) -> Standing:
        configuration, all = getattr(found, "configuration", 0), self._plan.answers
        left = left_s(self._plan, self.found, self._fell)
        return Standing(configuration, getattr(found, "round", 0), min(self._answered, all), all, left)


def _key(answer: Answer) -> tuple[int, str, int, Role]:
    return answer.configuration, answer.item, answer.round, answer.role


def start_of(configuration: int, began: float, snapshot: Snapshot, stages: dict[str, float]) -> Start:
    """The start that led to `snapshot`."""
    ready, recipe = snapshot.ready, snapshot.recipe
    if snapshot.phase is not Phase.READY or ready is None:
        return Start(
            configuration=configuration, at_s=began, failure=_sentence(snapshot),
            engine=recipe.engine if recipe else "", model=recipe.model.name if recipe else "",
        )  # fmt: skip
    return Start(
        configuration=configuration, at_s=began, ready_s=snapshot.ready_s, stages=stages, engine=ready.engine,
        version=ready.version, model=recipe.model.name if recipe else ready.model, context=ready.context,
        facts={**ready.facts, **({"taken_over_after_s": ready.past.age_s} if ready.past else {})},
    )  # fmt: skip


def _sentence(snapshot: Snapshot) -> str:
    failure = snapshot.failure
    if failure is not None:
        return " ".join(part for part in (failure.what, failure.why, failure.remedy) if part)
    if snapshot.phase is Phase.ASKING and snapshot.progress is not None:
        return f"{snapshot.progress.text}; start spark-chat and give it there."
    return "The engine did not come up."
