"""From outside to the engine that runs, where one does: take it over, ask how it stands, or end it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from spark_chat import locations
from spark_chat.engine import lock
from spark_chat.engine.codec import decode_event, encode
from spark_chat.engine.door import knock, peer
from spark_chat.engine.protocol import (
    AnyEvent,
    Attach,
    Command,
    End,
    Failed,
    Load,
    ProtocolError,
    Standing,
    Status,
)
from spark_chat.engine.wire import messages

ANSWER_S = 10.0
"""Seconds within which the engine at the door says something."""
END_S = 10.0
"""Seconds that an engine which was asked to end has for it."""
FREE_S = 15.0
"""Seconds after which a lock is no longer waited for, once its worker is gone."""
PATIENCE_S = 2.0
STEP_S = 0.02


@dataclass
class Visit:
    """A connection to a running engine. `pid`: the worker's, 0 where the system does not tell."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    events: AsyncIterator[AnyEvent | ProtocolError]
    pid: int
    first: AnyEvent | None = None
    """What came while it was opened and is still to be told."""

    def send(self, command: Command) -> None:
        """Queue it; a connection that is gone makes no error."""
        if not self.writer.is_closing():
            self.writer.write(encode(command))

    async def answer(self) -> AnyEvent | None:
        """The next event; None at the connection's end, or where it can't be read. Raises TimeoutError where none comes
        in time; nothing more can be heard then."""
        with contextlib.suppress(StopAsyncIteration):
            event = await asyncio.wait_for(anext(self.events), ANSWER_S)
            return None if isinstance(event, ProtocolError) else event
        return None

    def close(self) -> None:
        self.writer.close()


class Refused(Exception):
    """The engine that runs can't be had; `failure` says who has it and what to do."""

    def __init__(self, failure: Failed) -> None:
        super().__init__(failure.what)
        self.failure = failure


def _folder() -> Path | None:
    try:
        return lock.folder()
    except (OSError, locations.NoHome):
        return None


async def _enter(patience_s: float = 0.0) -> Visit | None:
    """A connection to the engine that runs; None where none does, or none can be asked. `patience_s`: how long to try
    again where one has the lock, and its door is not open yet or crowded."""
    folder = _folder()
    if folder is None:
        return None
    deadline = time.monotonic() + patience_s
    while (stream := knock(folder)) is None:
        if time.monotonic() >= deadline or lock.holder() is None:
            return None
        await asyncio.sleep(STEP_S)
    who = peer(stream)
    reader, writer = await asyncio.open_connection(sock=stream)
    return Visit(reader, writer, messages(reader, decode_event), who[0] if who else 0)


async def take_over(load: Load, fresh: bool) -> Visit | None:
    """The engine that runs, where it is what `load` asks for. One that is not and that nobody uses is ended; None then,
    and where none runs. `fresh`: only one of its own will do. Raises Refused."""
    visit = await _enter()
    if visit is None:
        return None
    try:
        visit.send(Attach(load=load, fresh=fresh))
        event = await visit.answer()
        if event is not None and not (isinstance(event, Failed) and event.facts.get("refused")):
            visit.first = event
            return visit
        if event is None and visit.reader.at_eof():
            visit.close()  # it is just ending
            return None
        if isinstance(event, Failed) and event.code == "held" and not event.facts.get("lingers"):
            raise Refused(event)
        refusal = await end(visit, force=False)
        if refusal is not None:
            raise Refused(refusal)
        return None
    except TimeoutError:
        visit.close()
        raise Refused(_silent(visit.pid)) from None
    except BaseException:
        visit.close()
        raise


async def have(load: Load, fresh: bool, alone: bool) -> Visit | None:
    """`take_over`. A `fresh` one that can't be had only because others use the very same engine is that one after all:
    better than none. `alone`: nobody else's will do. Raises Refused."""
    try:
        return await take_over(load, fresh or alone)
    except Refused as refused:
        if alone or not refused.failure.facts.get("same"):
            raise
    return await take_over(load, fresh=False)


async def standing() -> Standing | None:
    """How the engine that runs stands; None where none does or it can't be asked."""
    deadline = time.monotonic() + PATIENCE_S
    while (visit := await _enter(PATIENCE_S)) is not None:
        try:
            visit.send(Status())
            event = await visit.answer()
        except TimeoutError:
            return None
        finally:
            visit.close()
        if isinstance(event, Standing):
            return event
        if time.monotonic() >= deadline:
            break
        await asyncio.sleep(STEP_S)  # in a crowd at the door one may be pushed out again
    return None


async def stop(force: bool) -> Failed | None:
    """End the engine that runs, and wait until nothing of it is left. Who has it, where that is why it still runs."""
    visit = await _enter(PATIENCE_S)
    if visit is not None:
        refusal = await end(visit, force)
        if refusal is not None:
            return refusal
    elif force and (holder := lock.holder()) is not None and holder.pid:
        _kill(holder.pid)  # it has no door, or no longer answers there
    await free()
    return None


async def end(visit: Visit, force: bool) -> Failed | None:
    """Ask the engine behind `visit` to end, and wait until its process is gone. Its refusal, where it gives one. With
    `force` one that does not answer is killed."""
    visit.send(End(force=force))
    try:
        async with asyncio.timeout(END_S):
            async for event in visit.events:
                if isinstance(event, Failed) and event.code == "held":
                    return event
    except TimeoutError:
        if not force:
            return _silent(visit.pid)
        _kill(visit.pid)
    finally:
        visit.close()
    return None


def _silent(pid: int) -> Failed:
    """Stuck, busy with a load that lets nothing else run, or of a version that can't be talked to: who knows."""
    return Failed(
        code="held", what=f"An engine of yours runs (pid {pid}) and does not answer.",
        why="It may be stuck, or of another version of spark-chat.", remedy="`spark-chat stop --force` ends it.",
        facts={"refused": True}, time=time.monotonic(),
    )  # fmt: skip


async def free() -> bool:
    """Wait until the lock is free; False where it is still held after a while."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FREE_S):
            while lock.holder() is not None:  # noqa: ASYNC110  a lock tells nobody when it is let go
                await asyncio.sleep(STEP_S)
            return True
    return False


def _kill(pid: int) -> None:
    """The worker; its group follows by itself."""
    if pid and lock.holder() is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
