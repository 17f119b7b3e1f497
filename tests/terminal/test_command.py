"""The command itself where no chat can be drawn."""

from __future__ import annotations

import sys

import pytest

from tests.terminal.pty_app import PtyApp


def test_a_dumb_terminal_is_refused_in_a_sentence(home):
    with PtyApp.python("spark_chat", term="dumb") as app:
        assert app.wait_ended() == 2
        assert b"TERM=dumb" in app.output and b"spark-chat --plain" in app.output
        assert b"\x1b" not in app.output and b"Traceback" not in app.output


@pytest.mark.parametrize("redirection", ["</dev/null", "2>/dev/null", ">/dev/null", "| cat"])
def test_what_is_no_terminal_is_refused(home, redirection):
    with PtyApp(["sh", "-c", f"{sys.executable} -m spark_chat {redirection}"]) as app:
        assert app.wait_ended() == (0 if "|" in redirection else 2)  # a pipe ends as its last program does
        assert redirection.startswith("2") or b"spark-chat --plain" in app.output
        assert b"\x1b" not in app.output
