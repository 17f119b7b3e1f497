"""kill -9 of chats and engines at random moments: nothing is orphaned, there are never two engines, and the next start
takes over or starts clean. `SPARK_CHAT_KILLS` says how often, `SPARK_CHAT_SEED` which moments."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from spark_chat import locations
from spark_chat.engine import lock, visit
from spark_chat.engine.protocol import Ready
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests import waiting
from tests.engine.probe import Probe
from tests.processes import of_home

KILLS = int(os.environ.get("SPARK_CHAT_KILLS", "100"))
SEED = int(os.environ.get("SPARK_CHAT_SEED", "0")) or random.randrange(1, 1 << 30)
ROOT = Path(__file__).resolve().parents[2]
LINGER_S = 30
LATEST_S = 0.6
"""After the chat's fork: by then its engine has long been answering."""
NEXT_S = 15.0


class Victims:
    """Makes chats, and hears what happens in them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.engine.victims"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def begin(self, linger_s: int) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"linger_s": linger_s}).encode() + b"\n")
        self._process.stdin.flush()
        return int(self.until("Begun", seconds=20)[0])

    def until(self, kind: str, seconds: float) -> list[str]:
        """The words of the line with `kind`; [] where none comes in time."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self._process.stdout], [], [], left)[0]:
                words = _line(self._process.stdout.fileno()).split()
                if words[1:] == [kind]:
                    return words
        return []

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def _line(descriptor: int) -> str:
    found = b""
    while not found.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            break
        found += byte
    return found.decode()


@pytest.fixture
def victims(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Victims]:
    monkeypatch.setenv("SPARK_CHAT_TEST_WITNESS", str(home / "witness"))
    found = Victims()
    yield found
    found.close()


def of_this_test(home: Path) -> list[psutil.Process]:
    """All processes that have this test's runtime folder in their environment, but the maker of victims and us."""
    return [process for process in of_home(home) if "tests.engine.victims" not in (process.info["cmdline"] or [])]


def slain(pid: int | None) -> None:
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def test_kill_at_random_moments(victims: Victims, home: Path) -> None:
    print(f"SPARK_CHAT_SEED={SEED} SPARK_CHAT_KILLS={KILLS}")
    chance = random.Random(SEED)
    taken_over = started = 0
    for round in range(KILLS):
        chat = victims.begin(chance.choice([0, LINGER_S, LINGER_S]))
        moment = chance.choice(["Progress", "Ready", "Delta", "", ""])
        victims.until(moment or "Never", chance.uniform(0, LATEST_S))
        victim = chance.choice(["chat", "chat", "engine", "both"])
        holder = lock.holder()
        if victim != "chat":
            slain(holder.pid if holder else None)
        if victim != "engine" or chance.random() < 0.5:
            slain(chat)
        async with Probe("tests.engine.fake_worker") as probe:  # the next start, while the chat may still live
            recipe = Recipe(
                engine="fake", model=ModelRef("m", "m"), context=0, requested={}, args={"child": True},
                linger_s=LINGER_S,
            )  # fmt: skip
            began = time.monotonic()
            ready = await probe.start(recipe)
            assert isinstance(ready, Ready), (round, victim, moment, ready)
            assert time.monotonic() - began < NEXT_S
            found = await visit.standing()
            assert found is not None and found.pid == ready.facts["pid"] == probe.client.pid
            taken_over += ready.past is not None
            started += ready.past is None
            slain(chat)
            if chance.random() < 0.5:
                await probe.client.leave()
    assert not (home / "witness").read_text(), "there were two engines"
    assert taken_over and started
    assert await visit.stop(force=True) is None and lock.holder() is None
    await waiting.until(lambda: not of_this_test(home))
    assert [file.name for file in locations.runtime().iterdir()] == ["engine.lock"]
    print(f"{taken_over} taken over, {started} started")
