"""A plan measured and made a record, with its journal: what `bench run` does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from spark_chat.driver.snapshot import Snapshot, Update
from spark_chat.lab import archive
from spark_chat.lab import limit as limits
from spark_chat.lab.archive import Journal, Unfinished
from spark_chat.lab.plan import Plan
from spark_chat.lab.record import record
from spark_chat.lab.results import Answer, AnyFound, Start
from spark_chat.lab.runner import Driving, Runner, StageKeeper, Standing, Watcher
from spark_chat.locations import NoHome
from spark_chat.machine import Machine, machine
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.problem import CannotSave

Make = Callable[[Callable[[Update], None], StageKeeper], Driving]


def drive_alone(listener: Callable[[Update], None], keeper: StageKeeper) -> Driving:
    """The driver of the chat and `check`, with engines of its own: what is to be compared, also later and with another
    record, can neither share one nor take one over."""
    from spark_chat.driver.client import alone
    from spark_chat.driver.driver import Driver

    return Driver(listener, client_factory=alone, last_run=keeper)


@dataclass(frozen=True)
class Made:
    """`problem`: why the record could not be kept, a sentence; it is in `record` all the same."""

    record: dict[str, Any]
    problem: str = ""

    @property
    def ran(self) -> bool:
        """Whether any configuration was measured."""
        return any(item["runs_counted"] for item in self.record["configurations"])


class Bench:
    """`keep`: whether journal and record are written. `going_on`: a run that was cut off. `gb_s`: the memory's
    bandwidth, where the person gives it. `make`: drivers; else `drive_alone`. `interrupt()` may be called at any
    time."""

    def __init__(
        self,
        plan: Plan,
        watcher: Watcher,
        make: Make | None = None,
        *,
        keep: bool = True,
        going_on: Unfinished | None = None,
        gb_s: float | None = None,
        on: Machine | None = None,
    ) -> None:
        self._plan, self._watcher, self._keep, self._gb_s, self._on = plan, watcher, keep, gb_s, on
        self._journal, self.problem = self._open(going_on)
        self._path = ""
        known = going_on.found if going_on else ()
        self._runner = Runner(
            plan, make or drive_alone, _Writing(watcher, self._journal, self._failed, self._saw), known
        )

    def _open(self, going_on: Unfinished | None) -> tuple[Journal | None, str]:
        if not self._keep:
            return None, ""
        try:
            return (Journal.again(going_on) if going_on else Journal.begin(self._plan.digest, datetime.now(UTC))), ""
        except (OSError, NoHome) as error:
            return None, f"Nothing of this is kept on disk: {error}"

    def _failed(self, error: OSError) -> None:
        self.problem = f"From here on nothing is kept on disk: {error.strerror or error}."

    def _saw(self, snapshot: Snapshot) -> None:
        if snapshot.recipe is not None:
            self._path = snapshot.recipe.model.path

    def interrupt(self) -> None:
        """End soon; what was measured is kept."""
        self._runner.interrupt()

    async def run(self) -> Made:
        """Measure, and keep the record."""
        try:
            found = await self._runner.run()
            made = await self._record(found)
            return await asyncio.to_thread(self._save, made)
        finally:
            if self._journal is not None:
                self._journal.close()

    async def _record(self, found: list[AnyFound]) -> dict[str, Any]:
        on = self._on if self._on is not None else await asyncio.to_thread(machine)
        now = datetime.now(UTC)
        id, made = (self._journal.id, self._journal.made) if self._journal else ("", f"{now:%Y-%m-%dT%H:%M:%SZ}")
        about: dict[str, Any] = {
            "id": id, "made": made, "machine": on, "interrupted": self._runner.interrupted,
        }  # fmt: skip
        whole = record(self._plan, found, **about)
        if not self._path or self._runner.interrupted:
            return whole
        # The engine is down by now, so that a copy has the memory to itself.
        return {**whole, "limit": await asyncio.to_thread(limits.of_record, whole, self._path, on, self._gb_s)}

    def _save(self, whole: dict[str, Any]) -> Made:
        if self._journal is None:
            return Made(whole, self.problem)
        complete = not self._runner.interrupted and all(not item["failure"] for item in whole["configurations"])
        try:
            archive.save(whole)
        except (CannotSave, OSError) as error:
            return Made(whole, f"The record could not be kept: {error}")
        if complete:
            self._journal.remove()
        return Made(whole, self.problem)


class _Writing:
    """Writes everything that is found to the journal, then tells the watcher."""

    def __init__(
        self,
        watcher: Watcher,
        journal: Journal | None,
        failed: Callable[[OSError], None],
        saw: Callable[[Snapshot], None],
    ) -> None:
        self._watcher, self._journal, self._failed, self._saw = watcher, journal, failed, saw

    def snapshot(self, snapshot: Snapshot) -> None:
        self._saw(snapshot)
        self._watcher.snapshot(snapshot)

    def found(self, found: AnyFound, standing: Standing) -> None:
        if self._journal is not None and _worth_keeping(found):
            try:
                self._journal.add(found)
            except OSError as error:
                self._journal = None
                self._failed(error)
        self._watcher.found(found, standing)

    def piece(self, numbers: AnswerNumbers) -> None:
        self._watcher.piece(numbers)


def _worth_keeping(found: AnyFound) -> bool:
    """A start that failed or an answer that was cut short is tried again when the run goes on."""
    if isinstance(found, Answer):
        return found.whole
    return not (isinstance(found, Start) and found.failure)
