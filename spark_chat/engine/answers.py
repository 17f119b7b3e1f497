"""The answers of one engine, one at a time, to whoever asked: a queue over all clients, and counts over all answers."""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from collections import deque
from typing import Any

import msgspec

from spark_chat.engine.guest import Guest
from spark_chat.engine.interface import Engine, EngineFailure
from spark_chat.engine.protocol import (
    Abort,
    AnyCommand,
    AnyEvent,
    Delta,
    Done,
    Failed,
    FailureCode,
    Generate,
    Past,
    Progress,
    Ready,
    Started,
    Usage,
)

QUEUED = "queue"
"""The stage of the Progress that a client gets whose prompt waits for another's answer."""


class Answers:
    """Everything is called on the event loop's thread, except `past`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: deque[tuple[Guest, Generate]] = deque()
        self._running: tuple[Guest, Generate] | None = None
        self._unwanted = False
        self._past = Past(age_s=0.0, log=_log_path())
        self._tasks: set[asyncio.Task[None]] = set()

    def obey(self, guest: Guest, command: AnyCommand) -> bool:
        """Whether the command was one about answers."""
        if isinstance(command, Generate):
            self._add(guest, command)
        elif isinstance(command, Abort):
            self._abort(guest, command.id)
        else:
            return False
        return True

    def gone(self, guest: Guest) -> None:
        """It left: nobody waits for its answers any more."""
        self._queue = deque(item for item in self._queue if item[0] is not guest)
        if self._running is not None and self._running[0] is guest:
            self._stop()

    def past(self, ready: Ready, stages: dict[str, float]) -> Ready:
        """`ready` for a client that comes now, on any thread."""
        now, past = time.monotonic(), self._past
        return msgspec.structs.replace(
            ready, time=now, cold_turns=max(0, ready.cold_turns - past.turns),
            past=msgspec.structs.replace(past, age_s=now - ready.time, stages=stages),
        )  # fmt: skip

    # ------------------------------------------------------------ the queue

    def _add(self, guest: Guest, command: Generate) -> None:
        running = self._running is not None and self._running[0] is guest
        if running or any(waits is guest for waits, _ in self._queue):
            guest.send(_failed("request", "An answer is still being written.", "", "Wait for it, or stop it first.",
                               id=command.id))  # fmt: skip
            return
        self._queue.append((guest, command))
        if self._running is not None:
            text = f"The engine answers {self._running[0].person.program or 'another program'} in another window first."
            guest.send(Progress(stage=QUEUED, text=text, time=time.monotonic()))
        self._next()

    def _abort(self, guest: Guest, id: str) -> None:
        if self._running is not None and self._running[0] is guest and self._running[1].id == id:
            self._stop()
            return
        for item in self._queue:
            if item[0] is guest and item[1].id == id:
                self._queue.remove(item)
                usage = Usage(prompt_tokens=0, cached_tokens=0, completion_tokens=0, prefill_tokens=0)
                guest.send(Done(id=id, finish="abort", usage=usage, time=time.monotonic()))
                return

    def _stop(self) -> None:
        assert self._running is not None
        self._unwanted = True
        self._engine.abort(_engines_id(*self._running))

    def _next(self) -> None:
        if self._running is None and self._queue:
            self._running = self._queue.popleft()
            self._unwanted = False
            task = asyncio.create_task(self._answer(*self._running))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, guest: Guest, command: Generate) -> None:
        id, own = command.id, _engines_id(guest, command)
        asked = command if own == id else msgspec.structs.replace(command, id=own)
        try:
            async for event in self._engine.generate(asked):
                if isinstance(event, Done):
                    self._count(event.usage)
                guest.send(event if own == id else _with_id(event, id))
                if self._unwanted:  # again: it may have come before the engine could take it
                    self._engine.abort(own)
        except EngineFailure as failure:
            guest.send(_failed(failure.code, failure.what, failure.why, failure.remedy, id=id, facts=failure.facts))
        except Exception as error:
            traceback.print_exc()
            guest.send(_failed("request", "The engine could not answer.", f"{type(error).__name__}: {error}",
                               "See the log's end.", id=id))  # fmt: skip
        finally:
            self._running = None
            self._next()

    def _count(self, usage: Usage) -> None:
        past = self._past
        proposed = past.proposed_drafts
        if usage.proposed_drafts is not None:
            proposed = (proposed or 0) + usage.proposed_drafts
        self._past = msgspec.structs.replace(
            past, turns=past.turns + 1, tokens=past.tokens + usage.completion_tokens,
            prefill_tokens=past.prefill_tokens + min(usage.prefill_tokens, usage.completion_tokens),
            verify_steps=past.verify_steps + (usage.verify_steps or 0),
            accepted_drafts=past.accepted_drafts + (usage.accepted_drafts or 0), proposed_drafts=proposed,
        )  # fmt: skip


def _engines_id(guest: Guest, command: Generate) -> str:
    """The id for the engine: what one client calls "run-1" another may too, and an engine takes an id but once."""
    return command.id if guest.number == 0 else f"{command.id}-{guest.number}"


def _with_id(event: AnyEvent, id: str) -> AnyEvent:
    if isinstance(event, Started | Delta | Done | Failed):
        return msgspec.structs.replace(event, id=id)
    return event


def _failed(
    code: FailureCode, what: str, why: str, remedy: str, *, id: str, facts: dict[str, Any] | None = None
) -> Failed:
    return Failed(id=id, code=code, what=what, why=why, remedy=remedy, facts=facts or {}, time=time.monotonic())


def _log_path() -> str:
    """The file that this process writes its output to; "" where it has no name."""
    try:
        path = os.readlink("/proc/self/fd/2")  # noqa: PTH115
    except OSError:
        return ""
    return path if path.startswith("/") and not path.startswith(("/dev/", "/memfd:")) else ""
