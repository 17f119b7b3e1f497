"""The one execution core under the chat and the headless twins: settings in, updates out.

It finds or fetches the model, builds the recipe, runs the worker, queues prompts, keeps meters and badges. All
methods are called on the event loop's thread; so is the listener, which must not block."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from spark_chat.driver import board, failure
from spark_chat.driver.badges import Badges
from spark_chat.driver.client import Client
from spark_chat.driver.counting import Counting
from spark_chat.driver.gate import Gate
from spark_chat.driver.last_run import LastRun, StateFile
from spark_chat.driver.latest import Latest
from spark_chat.driver.models import ASK_FROM, Download, Models, waits
from spark_chat.driver.polling import Polling
from spark_chat.driver.prompts import Prompts
from spark_chat.driver.queue import Prompt
from spark_chat.driver.snapshot import Changed, Phase, Snapshot, Update
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import (
    AnyEvent,
    Counted,
    Delta,
    Done,
    Failed,
    Left,
    Opening,
    Progress,
    Ready,
    Started,
    Statistics,
    Turn,
)  # fmt: skip
from spark_chat.machine import Machine
from spark_chat.meters.session import SessionMeter
from spark_chat.recipe.build import build
from spark_chat.recipe.recipe import Recipe
from spark_chat.settings.schema import Settings

if TYPE_CHECKING:
    from spark_chat.driver.guard import Guard

LOG_LINES = 20  # of the log, shown where the engine failed


class Driver:
    """One engine at a time, and the prompts for it. `snapshot` is what is known now.

    `machine`: else this one. `models`, `last_run`: where models come from, and where the last that ran is kept.
    `guard`: which starts memory allows."""

    def __init__(
        self,
        listener: Callable[[Update], None],
        machine: Machine | None = None,
        client_factory: Callable[[], Client] = EngineClient,
        models: Models | None = None,
        last_run: LastRun | None = None,
        guard: Guard | None = None,
    ) -> None:
        self._listener = listener
        self._machine = machine
        self._client = client_factory()
        self._models = models
        self._last_run = last_run or StateFile()
        self._gate = Gate(client_factory, self._last_run, guard)
        self.snapshot = Snapshot()
        self.last_good: Settings | None = None
        self._prompts = Prompts(self._client.send, listener, self._prompts_changed)
        self.counting = Counting(self._client.send, lambda: self.snapshot.phase is Phase.READY)
        self._session = SessionMeter(0.0)
        self._badges = Badges(self._change, lambda: self._session.counters())
        self._generation = 0
        self._outcome: asyncio.Future[None] | None = None
        self._start = Latest()
        self._polling = Polling(self._client.send)
        self._stopping: asyncio.Task[None] | None = None
        self._spawned = self._closed = self._again = False

    # ------------------------------------------------------------------ the engine

    async def start(self, settings: Settings) -> None:
        """Bring the engine up for `settings`, in place of one that runs or starts. Ends in READY, FAILED or ASKING."""
        if not self._closed:
            await self._start.run(self._bring_up(settings, agreed=False))

    async def restart(self, settings: Settings) -> None:
        """`start` again: the running answer is stopped and keeps what came, prompts that wait go on waiting."""
        self._again = self.snapshot.phase is Phase.READY
        await self.start(settings)

    async def confirm(self) -> None:
        """Yes to the download that phase ASKING waits for. Nothing where nothing was asked."""
        if self.snapshot.phase is Phase.ASKING and self._badges.running is not None:
            await self._start.run(self._bring_up(self._badges.running, agreed=True))

    async def close(self) -> None:
        """Stop everything but an engine that lingers or that others use (`snapshot.left`). Ends in STOPPED."""
        self._closed = True
        await self._start.cancel()
        left = await self._stop_engine(leave=True)
        self._change(phase=Phase.STOPPED, progress=None, statistics=None, left=left or self.snapshot.left)

    async def stop(self) -> None:
        """Stop the engine until the next `start`; prompts go on waiting. Ends in STOPPED unless a start came."""
        if await self._start.cancel() and not self._closed:
            await self._stop_engine()
            self._change(phase=Phase.STOPPED, progress=None, statistics=None)
            self._badges.now(board.gone(self._badges.judged, "The engine was stopped."))

    def saved(self, settings: Settings) -> None:
        """The settings as they stand in the file now: what differs from the running ones is marked."""
        self._badges.saved(settings)

    async def _bring_up(self, settings: Settings, agreed: bool) -> None:
        await self._stop_engine()
        self._spawned = False
        self._badges.begin(settings)
        self._session = SessionMeter(time.monotonic())
        self._change(
            phase=Phase.STARTING, recipe=None, progress=None, left_s=None, ready=None, ready_s=None, failure=None,
            log_end=(), statistics=None, context_used=0, turns=0, last_good=None,
        )  # fmt: skip
        self._badges.now(board.unknown(settings, self._machine))
        try:
            await self._start_engine(settings, agreed)
        except asyncio.CancelledError:
            if self.snapshot.phase is not Phase.READY:  # one that is up is for whoever called it off to stop, or leave
                await self._stop_engine()
            raise
        except Exception as error:
            self._fail(failure.of_start(error))
            await self._stop_engine()

    async def _start_engine(self, settings: Settings, agreed: bool) -> None:
        if self._machine is None:
            from spark_chat.machine import machine

            self._machine = await asyncio.to_thread(machine)
            self._badges.now(board.unknown(settings, self._machine))
        if self._models is None:
            from spark_chat.driver.library import Library

            self._models = Library()
        found = await self._models.look(settings, self._machine)
        if isinstance(found, Download):
            self._badges.now(board.waiting(self._badges.judged))
            if found.size >= ASK_FROM and not agreed:
                self._change(phase=Phase.ASKING, progress=waits(found))
                return
            self._change(phase=Phase.FETCHING)
            model = await found.fetch(partial(self._tell, "fetch"))
            self._change(phase=Phase.STARTING, progress=None)
        else:
            model = found.model
        recipe = build(settings, self._machine, model, (found.note,) if found.note else ())
        recipe = replace(recipe, fresh=self._again)
        self._change(recipe=recipe)
        self._badges.now(board.starting(recipe))
        self._generation += 1
        self._session, self._spawned, self._again = SessionMeter(time.monotonic()), True, False
        outcome = self._outcome = asyncio.get_running_loop().create_future()
        on_event, admit = partial(self._on_event, self._generation), partial(self._admit, recipe, self._machine)
        await self._client.start(recipe, on_event, admit=admit)
        await outcome
        if self.snapshot.phase is not Phase.READY:
            await self._stop_engine()
            return
        self.last_good = settings
        await asyncio.to_thread(self._gate.note, settings, recipe, self._session.stages())

    async def _admit(self, recipe: Recipe, machine: Machine) -> None:
        """Before a worker is spawned: memory, and kernels built ahead."""
        self._spawned = False
        await self._gate.open(recipe, machine, self._tell)
        self._session, self._spawned = SessionMeter(time.monotonic()), True

    def _tell(self, stage: str, fraction: float | None, text: str) -> None:
        self._change(progress=Progress(stage=stage, fraction=fraction, text=text, time=time.monotonic()))

    async def _stop_engine(self, leave: bool = False) -> Left | None:
        """End the worker, or `leave` it to linger; what it was answering ends as stopped."""
        self._generation += 1
        poll = self._polling.end()
        self._prompts.stop()
        self.counting.stop()
        if poll is not None:
            await asyncio.wait([poll])
        stopping, self._stopping = self._stopping, None
        if stopping is not None:
            await stopping
        return await (self._client.leave() if leave else self._client.stop())

    # ------------------------------------------------------------------ prompts

    def ask(self, id: str, messages: Sequence[Turn], settings: Settings, *, ignore_eos: bool = False,
            opening: Opening | None = None) -> None:  # fmt: skip
        """Queue a prompt: `messages` end with it. It is sent once the engine is up and has answered those before it.
        Piece... and one Answered with `id` follow. ValueError: the id is in use."""
        self._prompts.add(Prompt(id, tuple(messages), settings, time.monotonic(), ignore_eos, opening))
        self._send_next()

    def abort(self, id: str | None = None) -> None:
        """Stop the answer `id`, or the running one. One that still waits is taken out of the queue."""
        self._prompts.abort(id)

    def _send_next(self) -> None:
        if self.snapshot.phase is Phase.READY:
            self._prompts.send_next(lambda: self._session.next_is_cold)

    def _prompts_changed(self) -> None:
        self._change(queue=self._prompts.waiting, answering=self._prompts.answering)

    # ------------------------------------------------------------------ events

    def _on_event(self, generation: int, event: AnyEvent) -> None:
        if generation != self._generation:
            return  # of a worker that was stopped
        if isinstance(event, Progress):
            self._session.feed(event)
            self._change(progress=event, left_s=self._gate.left(event))
        elif isinstance(event, Ready):
            self._became_ready(event)
        elif isinstance(event, Statistics):
            self._change(statistics=event, context_used=self._session.context_used)
            self._badges.show()
        elif isinstance(event, Counted):
            self.counting.take(event)
        elif isinstance(event, Failed) and event.id is None:
            self._engine_failed(event)
        elif isinstance(event, Started | Delta | Done | Failed):
            self._of_answer(event)

    def _became_ready(self, event: Ready) -> None:
        self._session.feed(event)
        recipe = self.snapshot.recipe
        assert recipe is not None
        judged = board.judged(recipe, event)
        wrong = board.failed(judged) if recipe.strict else ""
        self._change(ready=event, ready_s=self._session.ready_s, progress=None, left_s=None)
        if wrong:
            self._badges.judged = board.stopped(judged)
            self._fail(failure.of_strict(wrong), log=())
        else:
            self._badges.now(judged, phase=Phase.READY)
            self._polling.begin()
        self._settle()
        self._send_next()

    def _of_answer(self, event: Started | Delta | Done | Failed) -> None:
        if event.id != self._prompts.answering:
            return
        self._session.feed(event)
        if isinstance(event, Started):
            self._change(turns=self._session.turns, progress=None)
        elif isinstance(event, Done | Failed):
            self._change(context_used=self._session.context_used)
            self._badges.show()
        if self._prompts.take(event):
            self._send_next()

    def _engine_failed(self, event: Failed) -> None:
        """The engine did not come up, or died. Prompts that wait are kept for the next one."""
        self._session.feed(event)
        self._fail(event)
        self._prompts.take(event)
        self.counting.stop()
        self._polling.end()
        if self._outcome is not None and not self._outcome.done():
            self._settle()
        elif self._stopping is None:
            self._stopping = asyncio.create_task(self._client.stop())

    def _fail(self, event: Failed, log: Sequence[str] | None = None) -> None:
        """`log`: its end, where the worker's own is not the one to show; that of an earlier worker never is."""
        came = self._spawned and event.code != "held"  # else nothing was started
        good, running, judged = self.last_good or self._last_run.read(), self._badges.running, self._badges.judged
        if good is not None and (running is None or not board.pending(running, good)):
            good = None  # the same configuration: nothing to go back to
        self._change(
            phase=Phase.FAILED, failure=event, progress=None, statistics=None, last_good=good,
            log_end=() if not came else tuple(self._client.log_end(LOG_LINES) if log is None else log),
        )  # fmt: skip
        self._badges.now(board.gone(judged) if came else board.waiting(judged, self.snapshot.recipe))

    def _settle(self) -> None:
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(None)

    def _change(self, **fields: Any) -> None:
        after = replace(self.snapshot, **fields)
        if after != self.snapshot:
            self.snapshot = after
            self._listener(Changed(after))
