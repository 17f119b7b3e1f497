"""Interpreters that import ahead: children of multiprocessing like any other."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil
import pytest

from spark_chat.engine.prewarm import Prewarm

SPAWN = multiprocessing.get_context("spawn")


def child(pipe: Connection, event: Any, queue: Any) -> None:
    """Says what it finds, answers once, and ends with 7."""
    pipe.send([os.getpid(), os.getppid(), dict(os.environ), str(Path.cwd()), "tabnanny" in sys.modules])
    assert event.wait(20)
    queue.put(pipe.recv() * 2)
    queue.close()
    queue.join_thread()
    os._exit(7)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the worker is started: this checkout is on the path, wherever it runs. And turned on."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("SPARK_CHAT_IMPORT_AHEAD", "1")


def talk() -> tuple[list[Any], int | None]:
    """A child with a pipe, an event and a queue; what it said, and its exit code."""
    ours, theirs = SPAWN.Pipe()
    event, queue = SPAWN.Event(), SPAWN.Queue()
    process = SPAWN.Process(target=child, args=(theirs, event, queue))
    process.start()
    theirs.close()
    assert ours.poll(30), "the child says nothing"
    said = ours.recv()
    ours.send("ab")
    event.set()
    assert queue.get(timeout=20) == "abab"
    process.join(20)
    assert said[0] == process.pid
    return said, process.exitcode


def test_a_child_that_imported_ahead_is_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Prewarm(["tabnanny"]) as ahead:
        waiting = ahead.pids
        monkeypatch.setenv("NCCL_CUMEM_ENABLE", "0")
        (pid, parent, environment, directory, imported), code = talk()
        assert [pid] == waiting and ahead.used == 1 and imported
        assert parent == os.getpid() and directory == str(tmp_path) and environment["NCCL_CUMEM_ENABLE"] == "0"
        assert environment == dict(os.environ) and code == 7
        (other, _, _, _, imported), code = talk()
        assert other not in waiting and not imported and code == 7, "there are no more of them"


def test_an_environment_that_an_import_may_have_read_makes_it_start_anew(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Prewarm(["tabnanny"]) as ahead:
        monkeypatch.setenv("SGLANG_OPT_USE_TOPK_V2", "0")
        monkeypatch.setenv("SGLANG_ENABLE_TORCH_COMPILE", "0")
        assert ahead.stale(os.environ) == ["SGLANG_OPT_USE_TOPK_V2"]
        (pid, *_), code = talk()
        assert pid not in ahead.pids and ahead.used == 0 and code == 7
        ahead.imported()
        assert ahead.stale(os.environ) == []
        monkeypatch.setenv("SGLANG_ENABLE_TORCH_COMPILE", "1")
        assert ahead.stale(os.environ) == ["SGLANG_ENABLE_TORCH_COMPILE"]
    assert "SGLANG_OPT_USE_TOPK_V2 changed since" in capfd.readouterr().err


def test_one_that_died_is_replaced_in_the_ordinary_way() -> None:
    with Prewarm(["tabnanny"]) as ahead:
        [pid] = ahead.pids
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline
            os.sched_yield()
        (other, *_), code = talk()
        assert other != pid and code == 7 and ahead.used == 0


def test_an_import_that_fails_is_no_end() -> None:
    with Prewarm(["no.such.module"]) as ahead:
        waiting = ahead.pids
        (pid, *_), code = talk()
        assert [pid] == waiting and code == 7


def test_what_was_not_used_is_gone_and_nothing_is_left_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    from multiprocessing import util

    before = util.spawnv_passfds
    with Prewarm(["tabnanny", "json"]) as ahead:
        pids = ahead.pids
        assert len(pids) == 2 and util.spawnv_passfds != before
    assert util.spawnv_passfds is before and not any(psutil.pid_exists(pid) for pid in pids)
    monkeypatch.delenv("SPARK_CHAT_IMPORT_AHEAD")
    with Prewarm(["tabnanny"]) as ahead:
        assert ahead.pids == [] and util.spawnv_passfds is before


def test_they_go_with_whoever_started_them() -> None:
    program = (
        "import sys; from spark_chat.engine.prewarm import Prewarm; ahead = Prewarm(['tabnanny', 'json']);"
        "print(__import__('json').dumps(ahead.pids), flush=True); sys.stdin.read()"
    )
    import subprocess

    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pids = json.loads(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 20
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
        assert time.monotonic() < deadline, "one was left"
        os.sched_yield()
