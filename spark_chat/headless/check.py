"""One prompt through the real engine path, as often as asked: what `spark-chat check` does.

Runs on the same driver and meters as the chat; there is no second way to count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from spark_chat.driver import asking
from spark_chat.driver.asking import Asking, Run
from spark_chat.driver.lingering import farewell
from spark_chat.driver.snapshot import Snapshot, Update
from spark_chat.engine.protocol import Failed, Turn
from spark_chat.headless.narrator import Narrator
from spark_chat.meters.line import answer_line
from spark_chat.settings.schema import Settings


class Driving(asking.Driving, Protocol):
    """What a check needs of the driver."""

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Outcome:
    """What a check found. `snapshot`: as it was at the end, before the engine was stopped."""

    settings: Settings
    snapshot: Snapshot
    runs: tuple[Run, ...] = ()
    interrupted: bool = False

    @property
    def failure(self) -> Failed | None:
        """Why it did not get through; None where all runs came to an end."""
        if self.snapshot.failure is not None:
            return self.snapshot.failure
        return next((run.failure for run in self.runs if run.failure is not None), None)


class Check:
    """`make`: a driver for a listener. `interrupt()` may be called at any time, also from a signal handler of the
    event loop: what was measured by then is kept. `numbers`: narrate each run's; else only how far it is, for who
    prints the numbers at the end."""

    def __init__(
        self, make: Callable[[Callable[[Update], None]], Driving], narrator: Narrator, numbers: bool = True
    ) -> None:
        self._narrator, self._numbers = narrator, numbers
        self._drivers: list[Driving] = []

        def keep(listener: Callable[[Update], None]) -> Driving:
            self._drivers.append(make(listener))
            return self._drivers[0]

        self._asking = Asking(keep, narrator.snapshot)

    def interrupt(self) -> None:
        """End soon."""
        self._asking.interrupt()

    async def run(self, prompt: str, runs: int, settings: Settings) -> Outcome:
        """Start the engine, ask `prompt` `runs` times one after the other, stop the engine."""
        asking, driver = self._asking, self._drivers[0]
        done: list[Run] = []
        try:
            await asking.start(settings)
            self._narrator.started(driver.snapshot)
            while len(done) < runs and asking.ready:
                run = await asking.ask(f"run-{len(done) + 1}", (Turn("user", prompt),), settings)
                if run is None:
                    break
                done.append(run)
                said = answer_line(run.numbers) if self._numbers else "done"
                if self._numbers or runs > 1:
                    self._narrator.say(f"run {len(done)} of {runs}: {said}")
                if run.failure is not None:
                    break
            return Outcome(settings, driver.snapshot, tuple(done), asking.interrupted)
        finally:
            await driver.close()
            if goodbye := farewell(driver.snapshot.left):
                self._narrator.say(goodbye)
