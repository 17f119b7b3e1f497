"""The chat with the real engine: whatever ends the one ends the other."""

from __future__ import annotations

import signal
import time

import psutil
import pytest

from tests.terminal.pty_app import PtyApp
from tests.terminal.test_chat import ended_well

pytestmark = pytest.mark.model

GONE_WITHIN_S = 2.0


@pytest.fixture
def chat(home, model):
    with PtyApp.python("spark_chat", "--model", str(model), "--set", "sampling.temperature=0") as app:
        app.wait_for("write here")
        app.wait_for(lambda: engines(app), deadline_s=60)
        yield app


def engines(app):
    try:
        return [child for child in psutil.Process(app.pid).children(recursive=True) if child.is_running()]
    except psutil.NoSuchProcess:
        return []


def answer(app, prompt="Say hello."):
    app.send(prompt + "\r")
    app.wait_for(lambda: "TTFT" in app.text, deadline_s=120)


def long_answer(app):
    app.send("Count from one to one thousand in words, one a line.\r")
    app.wait_for(lambda: "tok/s" in app.text and "- tok/s" not in app.text, deadline_s=120)


def gone(processes):
    _, alive = psutil.wait_procs(processes, timeout=GONE_WITHIN_S)
    return alive == []


def test_it_answers_and_leaves_nothing_behind(chat):
    answer(chat)
    found = engines(chat)
    chat.send("\x11")
    ended_well(chat)
    assert gone(found)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_mid_answer_ends_both(chat, number):
    long_answer(chat)
    found = engines(chat)
    chat.kill(number)
    ended_well(chat, 128 + number)
    assert gone(found)


def test_a_signal_while_the_engine_starts_ends_both(home, model):
    with PtyApp.python("spark_chat", "--model", str(model)) as app:
        app.wait_for(lambda: engines(app), deadline_s=60)
        found = engines(app)
        app.kill(signal.SIGTERM)
        ended_well(app, 128 + signal.SIGTERM)
        assert gone(found)


def test_killing_the_chat_ends_the_engine(chat):
    long_answer(chat)
    found = engines(chat)
    chat.kill(signal.SIGKILL)
    chat.wait_ended()
    assert gone(found)


def test_a_lost_terminal_ends_both(chat):
    long_answer(chat)
    found = engines(chat)
    began = time.monotonic()
    chat.hang_up()
    assert chat.wait_ended() == 128 + signal.SIGHUP
    assert gone(found)
    assert time.monotonic() - began < 10


def test_killing_the_engine_leaves_the_chat(chat):
    answer(chat)
    for process in engines(chat):
        process.kill()
    chat.wait_for("ended")
    chat.send("still typing")
    chat.wait_for("still typing")
