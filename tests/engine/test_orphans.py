"""kill -9 of the UI: within 2 s nothing of the engine is left, whatever it was doing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = "tests.engine.fake_worker"
REAL = "spark_chat.engine.worker"
LIMIT_S = 2.0


@pytest.fixture(autouse=True)
def _home(home: Path) -> None:
    """Logs go to a folder of the test's own."""


@contextmanager
def ui(module: str, **given: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that drives an engine, as the chat does."""
    given = {"engine": "fake", "model": "m", "args": {}, **given}
    command = [sys.executable, "-m", "tests.engine.parent", module, json.dumps(given)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def heard(process: subprocess.Popen[str], *wanted: str) -> str:
    """What came after the wanted words, once they came."""
    assert process.stdout is not None
    for line in process.stdout:
        words = line.split()
        if words[: len(wanted)] == list(wanted):
            return " ".join(words[len(wanted) :])
    raise AssertionError(f"{wanted} never came")


def seconds_until_gone(pids: list[int], limit: float = 10.0) -> float:
    began = time.monotonic()
    while time.monotonic() - began < limit:
        if not any(running(pid) for pid in pids):
            return time.monotonic() - began
    left = [pid for pid in pids if running(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    raise AssertionError(f"{left} still ran after {limit} s")


def running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("load", ["", "block", "hold"])
def test_idle_and_in_a_load_that_gives_no_thread_a_turn(load: str) -> None:
    with ui(FAKE, args={"load": load}) as process:
        pid = int(heard(process, "pid"))
        heard(process, "Progress" if load else "Ready")
        process.kill()
        assert seconds_until_gone([pid]) < LIMIT_S


@pytest.mark.parametrize("load", ["", "block"])
def test_children_of_the_engine_go_too(load: str) -> None:
    with ui(FAKE, args={"load": load, "child": True}) as process:
        pid = int(heard(process, "pid"))
        child = int(heard(process, "Progress"))
        heard(process, "Progress" if load else "Ready")
        process.kill()
        assert seconds_until_gone([pid, child]) < LIMIT_S


def test_the_socket_alone_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel does not tell of a parent's death, and for a worker that has none to watch."""
    monkeypatch.setenv("SPARK_CHAT_TEST_NO_PRCTL", "1")
    with ui(FAKE, args={"load": "block"}) as process:
        pid = int(heard(process, "pid"))
        heard(process, "Progress")
        process.kill()
        assert seconds_until_gone([pid]) < LIMIT_S


def test_a_worker_whose_parent_is_not_the_one_named_ends() -> None:
    done = subprocess.run([sys.executable, "-m", REAL, "--fd", "0", "--parent", "1"], cwd=ROOT, timeout=20)
    assert done.returncode == 0


@pytest.mark.model
@pytest.mark.parametrize("moment", ["Progress", "Ready", "Delta"])
def test_the_real_engine_loading_idle_and_writing(model: Path, moment: str) -> None:
    with ui(
        REAL, engine="llama.cpp", model=str(model), ask="Count to a thousand." if moment == "Delta" else ""
    ) as process:
        pid = int(heard(process, "pid"))
        heard(process, moment)
        process.kill()
        assert seconds_until_gone([pid]) < LIMIT_S
