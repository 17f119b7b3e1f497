"""`spark-chat logs`: the end of a log, filtered, and as it grows."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from spark_chat.logs.files import app_file
from tests.cli.process import Finished, run, spawn

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def log(home: Path) -> Path:
    path = app_file().parent / "worker-1.log"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"line {number}\n" for number in range(200)) + "\x1b]0;title\x07ERROR last")
    return path


def test_without_a_log_that_is_said() -> None:
    for kind in ("--engine", "--app"):
        done = run("logs", kind)
        assert done.code == 1 and "There is no log yet" in done.err


def test_the_last_lines(log: Path) -> None:
    done = run("logs", "--lines", "3")
    assert done.out == "line 198\nline 199\nERROR last\n" and done.code == 0
    assert run("logs", "--grep", "error|line 7$").out == "line 7\nERROR last\n"
    assert run("logs", "--files").out == f"{log}\n"
    app_file().write_text("2026 engine ready\n")
    assert run("logs", "--app").out == "2026 engine ready\n"


@pytest.mark.parametrize("pattern", ["(", "*", "(?P<", "a{99999999999}"])
def test_a_pattern_that_is_none_is_refused(log: Path, pattern: str) -> None:
    done = run("logs", "--grep", pattern)
    assert done.code == 2 and "is no regular expression" in done.err and "Traceback" not in done.err


def test_it_follows_also_to_a_newer_start(log: Path) -> None:
    process = spawn("logs", "--follow", "--lines", "1", "--grep", "ERROR|new")
    assert process.stdout is not None
    assert process.stdout.readline() == b"ERROR last\n"
    with log.open("a") as file:
        file.write("\nnoise\nnew one\n")
    assert re.match(rb"ERROR last|new one", process.stdout.readline())
    (log.parent / "worker-2.log").write_text("new start\n")
    seen = b""
    while b"new start" not in seen:
        seen = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    done = Finished(process)
    assert done.code == 130 and "worker-2.log" in done.err and "Traceback" not in done.err
