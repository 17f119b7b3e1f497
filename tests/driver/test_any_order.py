"""Whatever order things happen in: every prompt gets exactly one end or still waits, and nothing is left running."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece
from spark_chat.engine.protocol import Failed, Turn
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script
from tests.listener import Listener

STEPS = st.lists(
    st.one_of(
        st.just(("ask",)),
        st.tuples(st.just("abort"), st.one_of(st.none(), st.integers(0, 12))),
        st.tuples(st.just("start"), st.booleans()),
        st.just(("start, not waited for",)),
        st.just(("die",)),
        st.tuples(st.just("next answer fails"), st.booleans()),
        st.tuples(st.just("next start fails"), st.booleans()),
        st.tuples(st.just("turn"), st.integers(1, 12)),
    ),
    max_size=25,
)


class Story:
    """Plays steps against a driver over a scripted engine."""

    def __init__(self) -> None:
        self.engine = FakeEngine(Script(tokens=6, drafts=1))
        self.listener = Listener()
        self.driver = Driver(
            self.listener, machine=MACHINE, client_factory=self.engine.client, models=FakeModels(),
            last_run=FakeLastRun(),
        )  # fmt: skip
        self.asked: list[str] = []
        self.starts: list[asyncio.Task[None]] = []

    async def play(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("ask",):
                self.asked.append(str(len(self.asked)))
                self.driver.ask(self.asked[-1], (Turn("user", "Hello"),), Settings())
            case ("abort", number):
                self.driver.abort(None if number is None else str(number))
            case ("start", mtp):
                await self.driver.start(replace(Settings(), optimizations=replace(Settings().optimizations, mtp=mtp)))
            case ("start, not waited for",):
                self.starts.append(asyncio.create_task(self.driver.start(Settings())))
            case ("die",):
                self.engine.die()
            case ("next answer fails", fails):
                self.engine.script.fails = Failed(code="request", what="It broke.", time=0.0) if fails else None
            case ("next start fails", fails):
                self.engine.script.start_failure = "It did not come up." if fails else ""
            case ("turn", times):
                for _ in range(times):
                    await asyncio.sleep(0)

    def ends(self) -> list[str]:
        return [update.id for update in self.listener.updates if isinstance(update, Answered)]

    def check(self) -> None:
        snapshot = self.driver.snapshot
        ends = self.ends()
        assert len(ends) == len(set(ends)), "an answer ended twice"
        running = [snapshot.answering] if snapshot.answering else []
        assert len(ends) + len(running) + snapshot.queue == len(self.asked), "a prompt was lost"
        assert not set(ends) & set(running)
        if snapshot.phase is not Phase.READY:
            assert snapshot.answering is None
        shown = [update.snapshot for update in self.listener.updates if isinstance(update, Changed)]
        assert not shown or shown[-1] == snapshot, "a change was not told"


@settings(deadline=None, max_examples=60)
@given(STEPS)
def test_any_order(steps: list[tuple[Any, ...]]) -> None:
    async def story() -> None:
        story = Story()
        for step in steps:
            await story.play(step)
            story.check()
        story.engine.script.start_failure, story.engine.script.fails = "", None
        await story.driver.start(Settings())
        for id in story.asked:
            await story.listener.answered(id)
        story.check()
        pieces = [update.id for update in story.listener.updates if isinstance(update, Piece)]
        assert [int(id) for id in pieces] == sorted(int(id) for id in pieces), "answers overlapped or overtook"
        await story.driver.close()
        await asyncio.gather(*story.starts)
        assert not story.engine.alive and story.driver.snapshot.phase is Phase.STOPPED
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert left == [], "a task was left behind"

    asyncio.run(story())
