"""`spark-chat --plain` as a process: streams, signals and a terminal, with the real engine."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import ROOT, run, signalled_at, spawn
from tests.terminal.pty_app import PtyApp

pytestmark = pytest.mark.usefixtures("home")

SHORT = ("--set", "sampling.max_tokens=12", "--set", "sampling.temperature=0")


@pytest.mark.model
def test_a_pipe_gets_answers_alone_and_the_numbers_go_to_the_person(model: Path) -> None:
    done = run("--plain", "--model", str(model), *SHORT, stdin=b"Say yes.\n\nSay no.\n")
    assert done.code == 0 and done.out.count("\n\n") >= 1 and "tok/s" not in done.out
    assert done.err.count("12 tok, ") + done.err.count(" tok, TTFT") >= 1 and "\x1b" not in done.out + done.err


@pytest.mark.model
def test_a_reader_that_leaves_ends_it_quietly(model: Path) -> None:
    command = f"printf 'Tell me a story.\\n' | {sys.executable} -m spark_chat --plain --model {model} | head -c 5"
    done = subprocess.run(["/bin/bash", "-c", f"{command}; echo \"${{PIPESTATUS[1]}}\" >&2"], cwd=ROOT,
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    assert len(done.stdout) == 5
    assert done.stderr.splitlines()[-1] == "141" and "Traceback" not in done.stderr


@pytest.mark.model
def test_sigterm_ends_the_engine_too(model: Path) -> None:
    process = spawn("--plain", "--model", str(model))
    done = signalled_at(process, "is ready", signal.SIGTERM)
    assert done.code == 128 + signal.SIGTERM and "Traceback" not in done.err
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, check=False)
    assert children.stdout == b""


@pytest.mark.model
def test_on_a_terminal_no_escape_code_is_written(model: Path) -> None:
    with PtyApp.python("spark_chat", "--plain", "--model", str(model), *SHORT, term="dumb") as app:
        app.wait_for("\n>")
        app.send(b"Say yes.\n")
        app.wait_for("12 tok")
        app.send(b"\x03")
        app.wait_for("again to quit")
        app.send(b"\x03")
        assert app.wait_ended() == 0
    assert b"\x1b" not in app.output


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = spawn("--plain", "--model", str(tmp_path / "none.gguf"), stdout=full)
        _, told = process.communicate(b"hello\n", timeout=60)
    assert process.returncode == 1 and b"Traceback" not in told and b"none.gguf" in told


def test_closed_streams_are_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m spark_chat --plain --model {tmp_path}/none.gguf"
    done = subprocess.run(["/bin/sh", "-c", f"echo hi | {command} >&-; {command} <&- 2>&-"], cwd=ROOT,
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 0 and "Traceback" not in done.stderr and "none.gguf" in done.stderr


def test_options_that_do_not_fit() -> None:
    assert run("--whole").code == 2
    assert "--plain is for the chat" in run("--plain", "doctor").err
