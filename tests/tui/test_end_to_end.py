"""The chat as a person has it: a terminal, a worker, a model. Nothing is faked."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from spark_chat import locations
from spark_chat.settings.schema import rows
from tests.terminal.pty_app import PtyApp

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.model]

LINE = re.compile(r"(\d+) tok · ([\d.]+) tok/s · TTFT ([\d.]+) s · TPOT ([\d.]+) ms · accept ([\d.]+|-)")


@contextmanager
def chat(model: Path, *options: str, size: tuple[int, int] = (120, 36), **variables: str) -> Iterator[PtyApp]:
    environment = {
        "SPARK_CHAT__SAMPLING__TEMPERATURE": "0",
        "SPARK_CHAT__SAMPLING__MAX_TOKENS": "64",
        "SPARK_CHAT__ENGINE__CONTEXT": "2048",
        **variables,
    }
    arguments = ("--model", str(model), *options)
    with PtyApp.python("spark_chat", *arguments, environment=environment, size=size) as app:
        app.wait_for("write here")
        yield app


def worker_of(app: PtyApp) -> psutil.Process | None:
    """The engine's process."""
    try:
        children = psutil.Process(app.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return None
    return next((child for child in children if "spark_chat.engine.worker" in command_of(child)), None)


def command_of(process: psutil.Process) -> list[str]:
    """Its command line; empty for one that has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def ready(app: PtyApp) -> None:
    up = re.compile("[●…] n-gram|○ MTP")
    app.wait_for(lambda: up.search(app.text) and "Starting the engine" not in app.text)


def ask(app: PtyApp, prompt: str, answers: int) -> None:
    """Send, and wait until as many answers are over."""
    app.send(prompt)
    app.wait_for(prompt.split("\n")[0][:40])
    app.send("\r")
    app.wait_for(lambda: len(LINE.findall(app.text)) >= answers)


def test_a_prompt_typed_before_the_engine_is_up_is_answered_with_its_numbers(model: Path) -> None:
    with chat(model) as app:
        ask(app, "Say hello.", 1)
        ready(app)
        tokens, speed, _, tpot, accept = LINE.findall(app.text)[0]
        assert 0 < int(tokens) <= 64
        assert float(tpot) == pytest.approx(1000 / float(speed), rel=0.02)
        assert accept != "-" and "cold" in app.text
        app.send("\x11")
        assert app.wait_ended() == 0
        assert worker_of(app) is None


def test_an_answer_is_stopped_and_the_next_one_comes(model: Path) -> None:
    with chat(model, SPARK_CHAT__SAMPLING__MAX_TOKENS="2000") as app:
        ready(app)
        app.send("Count from 1 to 500, one number a line.\r")
        app.wait_for(lambda: re.search(r"SmolLM2 +\S", app.text))
        app.send("\x1b")
        app.wait_for("stopped")
        app.send("\x03")
        app.wait_for("Press ctrl+c again to quit")
        app.send("Say hello.")
        app.send("\r")
        app.wait_for(lambda: "you     Say hello." in app.text)
        app.wait_for(lambda: "queue 0" in app.text)


def test_a_restart_with_mtp_off_and_on_keeps_the_conversation(model: Path) -> None:
    with chat(model) as app:
        ask(app, "My name is Ada. Say hello.", 1)
        ready(app)
        for badge, turns in (("○ MTP", 2), ("… n-gram", 3)):
            before = worker_of(app)
            app.send("/settings\r")
            app.wait_for("takes effect")
            for _ in range([row.key for row in rows()].index("optimizations.mtp")):  # the titles are passed over
                app.send("\x1b[B")
            app.wait_for("optimizations.mtp · on or off")
            app.send("\r")
            app.wait_for("1 change pending")
            app.send("\x1b[15~")
            app.wait_for(lambda before=before: worker_of(app) not in (None, before))  # type: ignore[misc]
            app.wait_for(lambda badge=badge: badge in app.text and "Starting the engine" not in app.text)  # type: ignore[misc]
            assert before is not None and not command_of(before)
            ask(app, "Go on.", turns)
        assert "My name is Ada" in app.text
        accepts = [found[4] for found in LINE.findall(app.text)]
        assert accepts[1] == "-" and accepts[2] != "-", "no speculation, no accept length"


def test_a_killed_worker_is_told_in_a_sentence_and_a_key_starts_another(model: Path) -> None:
    with chat(model) as app:
        ask(app, "Say hello.", 1)
        worker = worker_of(app)
        assert worker is not None
        worker.kill()
        app.wait_for("start again")
        assert "✗" in app.text
        app.send("still here")
        app.wait_for("> still here")
        app.send("\x1b[15~")
        ready(app)
        app.send("\r")
        app.wait_for(lambda: len(LINE.findall(app.text)) == 2)


def test_after_a_kill_of_the_screen_no_engine_is_left_and_the_next_start_goes_on(model: Path) -> None:
    with chat(model, SPARK_CHAT__SAMPLING__MAX_TOKENS="1500") as app:
        ready(app)
        app.send("Write a long story about a river.\r")
        app.wait_for(lambda: re.search(r"SmolLM2 +\S.{20}", app.text))
        answering = worker_of(app)
        app.send("half a dra")
        app.wait_for("> half a dra")
        app.wait_for(_kept_pieces)
        os.kill(app.pid, signal.SIGKILL)
    assert answering is not None
    gone, alive = psutil.wait_procs([answering], timeout=2)
    assert gone and not alive
    with chat(model) as app:
        app.wait_for("in the middle of an answer")
        app.wait_for("> half a dra")
        app.send("\x07")
        app.wait_for("Write a long story about a river.")
        app.wait_for(lambda: re.search(r"model +\S.{20}", app.text) and "stopped" in app.text)
        assert "> half a dra" in app.text


def _kept_pieces() -> bool:
    """Whether some of the answer is on disk."""
    with sqlite3.connect(f"file:{locations.history_file()}?mode=ro", uri=True) as connection:
        drafts = connection.execute("SELECT count(*) FROM drafts").fetchone()[0]
        return bool(drafts and connection.execute("SELECT count(*) FROM pieces").fetchone()[0])


@pytest.mark.parametrize("name", ["missing.gguf", "[INST] [link=x].gguf"])
def test_a_wrong_model_file_is_a_sentence_and_the_prompt_is_kept(name: str, tmp_path: Path) -> None:
    broken = tmp_path / name
    if not name.startswith("missing"):
        broken.write_bytes(b"this is no GGUF")
    with chat(broken) as app:
        app.wait_for("✗")
        assert "Traceback" not in app.text
        app.send("kept\r")
        app.wait_for("queued")
        app.send("\x11")
        assert app.wait_ended() == 0


def test_a_prompt_over_the_context_is_told_in_tokens(model: Path) -> None:
    with chat(model, SPARK_CHAT__ENGINE__CONTEXT="512") as app:
        ask(app, "Say hello.", 1)
        app.paste(b"river " * 2000)
        app.settle()
        app.send("\r")
        app.wait_for("tokens too many")
        app.wait_for("esc close")
