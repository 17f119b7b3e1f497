"""The driver over the real worker and the real small model: chat, stop, restart, kill."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from spark_chat.driver.driver import Driver
from spark_chat.driver.lingering import QUEUE
from spark_chat.driver.snapshot import Changed, Phase, Piece
from spark_chat.engine import lock, visit
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import Turn
from spark_chat.optimizations.optimization import Badge, State
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE
from tests.listener import Listener

pytestmark = pytest.mark.model


class Real:
    """A driver with nothing faked but the machine, so that a GPU here would change nothing."""

    def __init__(self, model: Path) -> None:
        self.client = EngineClient()
        self.linger_s = 0
        self.listener = Listener()
        self.driver = Driver(self.listener, machine=MACHINE, client_factory=lambda: self.client)
        self.model = model

    def settings(self, mtp: bool = True, **sampling: Any) -> Settings:
        plain = Settings()
        return Settings(
            engine=replace(plain.engine, model=str(self.model), context=1024, linger_s=self.linger_s),
            optimizations=replace(plain.optimizations, mtp=mtp),
            sampling=replace(plain.sampling, **{"temperature": 0.0, "max_tokens": 24, **sampling}),
        )

    def ask(self, id: str, text: str, **sampling: Any) -> None:
        self.driver.ask(id, (Turn("user", text),), self.settings(**sampling))

    def badge(self, name: str) -> Badge:
        return next(badge for badge in self.driver.snapshot.badges if badge.name == name)

    async def first_piece(self, id: str) -> None:
        await self.listener.until(
            lambda update: isinstance(update, Piece) and update.id == id and update.numbers.tokens, seconds=60
        )


@pytest.fixture
async def real(home: Path, model: Path) -> AsyncIterator[Real]:
    real = Real(model)
    yield real
    await real.driver.close()
    assert not real.client.alive


async def answered(real: Real, id: str) -> Any:
    async with asyncio.timeout(120):
        return await real.listener.until(
            lambda update: getattr(update, "id", None) == id and hasattr(update, "failure"), seconds=120
        )


async def test_chat_and_restart_with_speculation_off_and_on(real: Real) -> None:
    real.ask("early", "Say hello.")
    await real.driver.start(real.settings())
    early = await answered(real, "early")
    assert early.numbers.cold and early.numbers.tokens > 0 and early.numbers.waited_s > 0
    seen = State.ACTIVE if early.numbers.proposed_drafts else State.STARTING
    assert (real.badge("mtp").label, real.badge("mtp").state) == ("n-gram", seen)
    first_worker = real.client.pid

    await real.driver.restart(real.settings(mtp=False))
    assert real.client.pid != first_worker and not psutil.pid_exists(first_worker or 0)
    assert real.badge("mtp").state is State.OFF
    real.ask("plain", "Say hello.")
    plain = await answered(real, "plain")
    assert (plain.numbers.accept_length, plain.numbers.verify_steps) == (None, None)
    assert real.listener.text("plain") == real.listener.text("early"), "greedy text does not depend on it"

    await real.driver.restart(real.settings(mtp=True))
    real.ask("again", "Say hello.")
    assert (await answered(real, "again")).numbers.verify_steps > 0
    assert real.driver.snapshot.context_used > 0


async def test_a_stop_keeps_what_came_and_the_engine_goes_on(real: Real) -> None:
    await real.driver.start(real.settings())
    real.ask("long", "Tell a very long story.", max_tokens=900)
    await real.first_piece("long")
    real.driver.abort()
    stopped = await answered(real, "long")
    assert stopped.numbers.finish == "abort" and 0 < stopped.numbers.tokens < 900
    real.ask("next", "Say hello.")
    assert (await answered(real, "next")).failure is None


async def test_kill_9_of_the_worker_keeps_what_waits(real: Real) -> None:
    await real.driver.start(real.settings())
    real.ask("killed", "Tell a very long story.", max_tokens=900)
    real.ask("waits", "Say hello.")
    await real.first_piece("killed")
    assert real.client.pid is not None
    os.kill(real.client.pid, signal.SIGKILL)
    killed = await answered(real, "killed")
    assert killed.failure is not None and killed.failure.code == "died" and "SIGKILL" in killed.failure.why
    assert killed.numbers.tokens > 0
    assert real.driver.snapshot.phase is Phase.FAILED and real.driver.snapshot.queue == 1
    await real.driver.restart(real.settings())
    assert (await answered(real, "waits")).failure is None


async def test_too_long_a_prompt_says_by_how_much_and_the_engine_goes_on(real: Real) -> None:
    await real.driver.start(real.settings())
    real.ask("long", "word " * 3000)
    failure = (await answered(real, "long")).failure
    assert failure.code == "overflow" and failure.facts["prompt_tokens"] > failure.facts["context"] == 1024
    real.ask("next", "Say hello.")
    assert (await answered(real, "next")).failure is None


async def test_two_chats_on_one_engine_and_a_restart_of_one(real: Real, model: Path) -> None:
    other = Real(model)
    real.linger_s = other.linger_s = 30
    await real.driver.start(real.settings())
    real.ask("long", "Tell a very long story.", max_tokens=900)
    await real.first_piece("long")
    await other.driver.start(other.settings())
    assert other.client.pid == real.client.pid and other.driver.snapshot.phase is Phase.READY
    ready = other.driver.snapshot.ready
    assert ready is not None and ready.past is not None and ready.proofs == real.driver.snapshot.ready.proofs
    other.ask("between", "Say hello.")
    queued = await other.listener.until(
        lambda update: isinstance(update, Changed) and update.snapshot.progress is not None
    )
    assert queued.snapshot.progress.stage == QUEUE and other.driver.snapshot.phase is Phase.READY
    real.driver.abort()
    between = await answered(other, "between")
    assert between.failure is None and other.driver.snapshot.progress is None
    assert (await answered(real, "long")).numbers.finish == "abort"

    await other.driver.restart(other.settings())  # under another's eyes it can't be started anew: it is kept
    assert other.driver.snapshot.phase is Phase.READY and other.client.pid == real.client.pid
    changed = other.settings(mtp=False)
    await other.driver.restart(changed)
    failure = other.driver.snapshot.failure
    assert failure is not None and failure.code == "held" and str(os.getpid()) in failure.what
    assert not any(badge.state is State.FAILED for badge in other.driver.snapshot.badges), "nothing was started"
    assert other.driver.snapshot.log_end == () and other.driver.last_good == other.settings()
    await other.driver.restart(other.settings())
    assert other.driver.snapshot.phase is Phase.READY and other.client.pid == real.client.pid

    await other.driver.close()
    assert other.driver.snapshot.left is not None and other.driver.snapshot.left.others == 1
    first = real.client.pid
    await real.driver.restart(real.settings())  # nobody else is there: really anew
    assert real.driver.snapshot.phase is Phase.READY and real.client.pid != first
    await real.driver.close()
    left = real.driver.snapshot.left
    assert left is not None and (left.lingers_s, left.others) == (30, 0)
    assert await visit.stop(force=False) is None and lock.holder() is None


async def test_the_workers_memory_is_known(real: Real) -> None:
    await real.driver.start(real.settings())
    shown = await real.listener.until(
        lambda update: isinstance(update, Changed) and update.snapshot.statistics is not None, seconds=30
    )
    assert shown.snapshot.statistics.memory_bytes > 50_000_000
