"""Inside tmux: keys, pastes and copies go through it."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile

import pytest

from tests.terminal.pty_app import PtyApp

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

LINES = "".join(f"line {number} [/INST]\n" for number in range(40))


@pytest.fixture
def tmux(tmp_path, home):
    """The host app in a tmux of its own, on a pseudo terminal; `tmux.do` runs a tmux command."""
    log = tmp_path / "log"
    command = f"{sys.executable} -m tests.terminal.host_app {log}"
    with (
        tempfile.TemporaryDirectory() as folder,
        PtyApp([*server(folder), "new-session", "-x", "80", "-y", "24", command]) as app,
    ):
        app.do = lambda *words, **more: subprocess.run([*server(folder), *words], check=True, timeout=20, **more)
        app.heard = lambda: [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        app.sent = lambda: [what["sent"] or what["sha"] for what in app.heard() if "sha" in what]
        try:
            app.wait_for("write here")
            yield app
        finally:
            app.do("kill-server")


def server(folder):
    """A tmux that nobody else has: its socket lies in `folder`, since one by name is shared by all of this person's."""
    return ["tmux", "-S", f"{folder}/socket", "-f", "/dev/null", "-u"]


def test_keys_send_and_newline_keys_do_not(tmux):
    tmux.do("send-keys", "a", "C-j", "b", "M-Enter", "c", "Enter")
    tmux.wait_for(lambda: tmux.sent() == ["a\nb\nc"])


def test_a_bracketed_paste_from_tmux_is_exact(tmux):
    tmux.do("load-buffer", "-", input=LINES.encode())
    tmux.do("paste-buffer", "-p")
    tmux.wait_for("pasted")
    assert tmux.sent() == []
    tmux.do("send-keys", "Enter")
    tmux.wait_for(lambda: tmux.sent() == [LINES])


def test_a_paste_from_tmux_without_brackets_is_one_message(tmux):
    tmux.do("load-buffer", "-", input=LINES.encode())
    tmux.do("paste-buffer")
    tmux.wait_for("pasted")
    assert tmux.sent() == []
    tmux.do("send-keys", "Enter")
    tmux.wait_for(lambda: tmux.sent() == [LINES])


def test_a_large_paste_through_tmux_is_exact(tmux):
    text = LINES * 500
    tmux.do("load-buffer", "-", input=text.encode())
    tmux.do("paste-buffer", "-p")
    tmux.wait_for("pasted 315.0 kB · 20,000 lines")
    tmux.do("send-keys", "Enter")
    tmux.wait_for(lambda: tmux.sent() == [hashlib.sha256(text.encode()).hexdigest()])


def test_a_copy_reaches_the_terminal_through_tmux(tmux):
    tmux.do("set", "-g", "allow-passthrough", "on")
    tmux.do("send-keys", "hello", "F7")
    tmux.settle()
    tmux.do("send-keys", "C-c")
    tmux.wait_for(lambda: b"\x1b]52;c;" + base64.b64encode(b"hello") + b"\x07" in tmux.output)
    assert tmux.do("save-buffer", "-", capture_output=True).stdout == b"hello"
