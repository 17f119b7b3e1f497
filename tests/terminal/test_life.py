"""How an app on a terminal begins and ends, on a real pseudo terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.terminal.pty_app import ROOT, PtyApp

RESTORED = {
    "alternate screen left": b"\x1b[?1049l",
    "cursor shown": b"\x1b[?25h",
    "bracketed paste off": b"\x1b[?2004l",
    "mouse off": b"\x1b[?1000l",
    "mouse moves off": b"\x1b[?1003l",
    "focus reports off": b"\x1b[?1004l",
    "kitty keys popped": b"\x1b[<u",
}


def start(tmp_path, *arguments, **options):
    return PtyApp.python("tests.terminal.host_app", str(tmp_path / "log"), *arguments, **options)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_the_terminal_as_it_was(tmp_path, home, number):
    with start(tmp_path) as app:
        before = termios.tcgetattr(app.descriptor)
        app.wait_for("write here")
        during = termios.tcgetattr(app.descriptor)
        app.send("half a prompt")
        app.wait_for("half a prompt")
        app.kill(number)
        assert app.wait_ended() == 128 + number
        end = bytes(app.output)
        missing = [what for what, sequence in RESTORED.items() if sequence not in end]
        assert missing == []
        assert end.rindex(b"\x1b[?1049l") > end.rindex(b"\x1b[?1049h")
        assert b"Traceback" not in end
        assert during[3] & termios.ECHO == 0 and before[3] & termios.ECHO
        assert termios.tcgetattr(app.descriptor)[3] == before[3]
    assert '{"left": true}' in (tmp_path / "log").read_text()


def test_a_lost_terminal_ends_it(tmp_path, home):
    with start(tmp_path) as app:
        app.wait_for("write here")
        app.hang_up()
        assert app.wait_ended() == 128 + signal.SIGHUP
    assert '{"left": true}' in (tmp_path / "log").read_text()


def test_a_lost_terminal_ends_it_even_where_it_hangs(tmp_path, home):
    with start(tmp_path, "--hang") as app:
        app.wait_for("write here")
        app.hang_up()
        assert app.wait_ended() == 128 + signal.SIGHUP
    assert '{"left": true}' in (tmp_path / "log").read_text()


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_it_stops_and_goes_on(tmp_path, home, number):
    with start(tmp_path) as app:
        app.wait_for("write here")
        threads = _threads(app.pid)
        app.kill(number)
        app.wait_for(lambda: _state(app.pid) == "T")
        seen = len(app.output)
        app.kill(signal.SIGCONT)
        # raw comes after that: until then the terminal itself makes a newline of the Enter
        app.wait_for(lambda: b"\x1b[?1049h" in app.output[seen:] and _is_raw(app))
        app.send("still here\r")
        app.wait_for(lambda: (tmp_path / "log").exists() and "still here" in (tmp_path / "log").read_text())
        assert _threads(app.pid) == threads


def _is_raw(app):
    flags = termios.tcgetattr(app.descriptor)
    return not flags[0] & termios.ICRNL and not flags[3] & termios.ICANON


def _threads(pid):
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def _state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_without_the_mouse_none_is_asked_for(tmp_path, home):
    with start(tmp_path, "--no-mouse") as app:
        app.wait_for("write here")
        app.settle()
        assert b"\x1b[?1000h" not in app.output and b"\x1b[?1003h" not in app.output


def test_a_dumb_terminal_is_refused_in_a_sentence(tmp_path, home):
    with start(tmp_path, term="dumb") as app:
        assert app.wait_ended() == 2
        assert b"TERM=dumb" in app.output and b"spark-chat --plain" in app.output
        assert b"\x1b" not in app.output and b"Traceback" not in app.output


@pytest.mark.parametrize("stream", ["stdin", "stderr"])
def test_what_is_no_terminal_is_refused_in_a_sentence(tmp_path, home, stream):
    leader, follower = os.openpty()
    streams = {"stdin": follower, "stderr": follower, stream: subprocess.PIPE}
    command = [sys.executable, "-m", "tests.terminal.host_app", str(tmp_path / "log")]
    done = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, **streams)
    os.close(follower)
    _, said = done.communicate(timeout=30)
    said = said if said is not None else os.read(leader, 4_096)
    os.close(leader)
    assert done.returncode == 2
    assert b"not a terminal" in said and b"spark-chat --plain" in said


@pytest.mark.parametrize("size", [(20, 5), (8, 2), (200, 60)])
def test_any_size_works(tmp_path, home, size):
    with start(tmp_path, size=size) as app:
        app.wait_for(lambda: b"\x1b[?1049h" in app.output)
        app.settle()
        app.send("hello\r")
        app.wait_for(lambda: (tmp_path / "log").exists() and _sent(tmp_path) == ["hello"])
        assert b"Traceback" not in app.output


def test_resizing_keeps_what_is_written(tmp_path, home):
    with start(tmp_path) as app:
        app.wait_for("write here")
        app.send("some text")
        for size in ((40, 10), (20, 5), (120, 40)):
            app.resize(*size)
            app.wait_for(lambda: "some text" in app.text)
        app.send("\r")
        app.wait_for(lambda: (tmp_path / "log").exists() and _sent(tmp_path) == ["some text"])


def _sent(folder):
    return [what["sent"] for line in (folder / "log").read_text().splitlines() if "sent" in (what := json.loads(line))]
