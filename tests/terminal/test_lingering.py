"""The chat with an engine that lingers: closed or killed, the next one takes it over."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_chat.engine import lock, visit
from tests.terminal.pty_app import PtyApp
from tests.terminal.test_chat import ended_well

pytestmark = pytest.mark.model


@pytest.fixture(autouse=True)
def nothing_stays(home: Path) -> Iterator[None]:
    yield
    asyncio.run(visit.stop(force=True))
    assert lock.holder() is None


def chat(model: Path) -> PtyApp:
    return PtyApp.python("spark_chat", "--model", str(model), "--set", "engine.linger_s=60")


def ready_pid(app: PtyApp) -> int:
    app.wait_for("context 0 /", deadline_s=60)
    found = asyncio.run(visit.standing())
    assert found is not None and found.ready_s is not None and [one.pid for one in found.people] == [app.pid]
    return found.pid


def lingers(pid: int) -> bool:
    found = asyncio.run(visit.standing())
    return found is not None and found.pid == pid and found.people == []


def test_a_chat_that_is_left_says_that_the_engine_stays_and_the_next_takes_it_over(model: Path) -> None:
    with chat(model) as app:
        pid = ready_pid(app)
        app.send("\x11")
        ended_well(app)
        assert "The engine stays 1 minute for the next chat; `spark-chat stop` ends it." in app.text
    assert lingers(pid)
    with chat(model) as app:
        app.wait_for("took over an engine")
        assert ready_pid(app) == pid
        app.send("\x1b[15~")  # f5: really anew
        app.wait_for(lambda: (found := asyncio.run(visit.standing())) is not None and found.pid != pid, deadline_s=30)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_a_chat_that_is_killed_or_whose_terminal_closes_leaves_it_too(model: Path, number: signal.Signals) -> None:
    with chat(model) as app:
        pid = ready_pid(app)
        app.send("Count from one to one thousand in words, one a line.\r")
        app.wait_for(lambda: "tok/s" in app.text and "- tok/s" not in app.text, deadline_s=60)
        app.kill(number)
        app.wait_ended()
    assert lingers(pid)
    with chat(model) as app:
        assert ready_pid(app) == pid
