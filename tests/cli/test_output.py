"""Where output goes may be closed, full or a terminal: never a traceback, never a control sequence of a name's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spark_chat.cli import options
from tests.cli.process import ROOT, spawn
from tests.terminal.pty_app import PtyApp

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("words", [["settings", "show"], ["--help"], ["completion", "bash"], ["doctor", "--json"]])
def test_a_full_disk_under_stdout_is_said_in_a_sentence(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = spawn(*words, stdout=full)
        _, told = process.communicate(timeout=60)
    said = told.decode()
    assert process.returncode == 1
    assert "No space left on device" in said and "Traceback" not in said and "Exception ignored" not in said


def test_a_closed_stdout_is_no_error() -> None:
    command = f"exec {sys.executable} -m spark_chat settings show >&-"
    finished = subprocess.run(["/bin/sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_name_does_not_drive_the_terminal() -> None:
    name = "no\x1b]0;taken\x07\x9b2J"
    with PtyApp.python("spark_chat", "check", "--model", name) as app:
        assert app.wait_ended() == 2
        output = bytes(app.output)
    assert b"no\\u001b]0;taken" in output or b"no\\x1b]0;taken" in output
    assert b"\x1b]" not in output and b"\xc2\x9b" not in output


def test_what_is_narrated_is_printable_and_data_is_exact_where_no_terminal_is(
    capfd: pytest.CaptureFixture[str],
) -> None:
    options.narrate("a\x1b[2Jb\nc\ud800")
    options.write("a\x1b[2Jb")
    said = capfd.readouterr()
    assert said.err == "a\\u001b[2Jb\nc\\ud800\n"
    assert said.out == "a\x1b[2Jb\n"
