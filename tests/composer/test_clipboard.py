"""Which way a text goes to the clipboard, with stand-ins for the desktop's tools."""

from __future__ import annotations

import base64
import stat
import time

import pytest

from spark_chat.tui import clipboard
from spark_chat.tui.clipboard import LONGEST_OSC52, SCREEN_CHUNK, copy, osc52, paste

PLAIN = {"TERM": "xterm-256color"}


@pytest.fixture
def bench(tmp_path):
    """A PATH with tools of our making, a file to fall back on, and what the terminal was sent."""

    class Bench:
        folder = tmp_path / "bin"
        file = tmp_path / "state" / "copied.txt"
        taken = tmp_path / "taken"
        written: list[str] = []
        terminal = True

        def tool(self, name, script):
            self.folder.mkdir(exist_ok=True)
            path = self.folder / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)

        def write(self, data):
            self.written.append(data)
            return self.terminal

        async def copy(self, text, **environment):
            return await copy(text, self.write, self.file, {**PLAIN, **environment})

    found = Bench()
    found.written = []
    return found


@pytest.fixture(autouse=True)
def path(bench, monkeypatch):
    monkeypatch.setenv("PATH", f"{bench.folder}:/usr/bin:/bin")
    monkeypatch.setitem(PLAIN, "PATH", str(bench.folder))


@pytest.mark.parametrize(
    ("tool", "environment"),
    [
        ("wl-copy", {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}),
        ("xclip", {"DISPLAY": ":0"}),
        ("xsel", {"DISPLAY": ":0"}),
        ("xclip", {"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "a 1 b 2"}),
    ],
)
async def test_the_desktops_tool_is_asked_first(bench, tool, environment):
    bench.tool(tool, f"cat > {bench.taken}")
    done = await bench.copy("tëxt", **environment)
    assert done.way == "tool" and tool in done.sentence
    assert bench.taken.read_text() == "tëxt" and bench.written == []


async def test_a_tool_that_fails_is_passed_over(bench):
    bench.tool("xclip", "exit 1")
    bench.tool("xsel", f"cat > {bench.taken}")
    assert (await bench.copy("x", DISPLAY=":0")).sentence == "Copied 1 characters (xsel)."


async def test_a_tool_that_hangs_is_ended(bench, monkeypatch):
    monkeypatch.setattr(clipboard, "TOOL_WITHIN_S", 0.1)
    bench.tool("xclip", "exec sleep 60")
    began = time.monotonic()
    assert (await bench.copy("x", DISPLAY=":0")).way == "osc52"
    assert time.monotonic() - began < 30


async def test_a_desktop_that_nobody_looks_at_is_not_used(bench):
    for tool in ("wl-copy", "xclip"):
        bench.tool(tool, f"cat > {bench.taken}")
    done = await bench.copy("x", WAYLAND_DISPLAY="wayland-0", DISPLAY=":0", SSH_CONNECTION="a 1 b 2")
    assert done.way == "osc52" and not bench.taken.exists()


async def test_without_a_tool_the_terminal_is_asked_and_the_sentence_does_not_promise(bench):
    done = await bench.copy("hi")
    assert done.way == "osc52" and "do not say" in done.sentence
    assert bench.written == ["\x1b]52;c;aGk=\x07"]


async def test_in_tmux_it_is_wrapped_and_tmux_is_given_the_text(bench):
    bench.tool("tmux", f'[ "$1 $2" = "load-buffer -w" ] && cat > {bench.taken}')
    done = await bench.copy("hi", TMUX="/tmp/tmux,1,0")
    assert bench.written == ["\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"]
    assert bench.taken.read_text() == "hi" and "tmux's buffer" in done.sentence


def test_in_screen_it_comes_in_pieces_that_screen_takes():
    data = bytes(range(256)) * 40
    pieces = osc52(data, {"STY": "1.tty"}).split("\x1bP")[1:]
    assert all(len(piece) <= SCREEN_CHUNK + 2 and piece.endswith("\x1b\\") for piece in pieces)
    whole = "".join(piece[:-2] for piece in pieces)
    assert base64.b64decode(whole.removeprefix("\x1b]52;c;").removesuffix("\x07")) == data


@pytest.mark.parametrize(
    ("text", "environment", "why"),
    [
        ("hi", {"TERM": "linux"}, "has no clipboard"),
        ("hi", {"TERM_PROGRAM": "Apple_Terminal"}, "has no clipboard"),
        ("x" * (LONGEST_OSC52 + 1), {}, "this long"),
    ],
)
async def test_else_a_file_and_why(bench, text, environment, why):
    done = await bench.copy(text, **environment)
    assert done.way == "file" and why in done.sentence and str(bench.file) in done.sentence
    assert bench.file.read_text() == text and bench.written == []
    assert stat.S_IMODE(bench.file.stat().st_mode) == 0o600


async def test_without_a_terminal_a_file(bench):
    bench.terminal = False
    assert (await bench.copy("hi")).way == "file"


async def test_pasting_reads_the_desktops_clipboard(bench):
    bench.tool("xclip", 'printf "a\\r\\nb"')
    assert await paste({**PLAIN, "DISPLAY": ":0"}) == "a\r\nb"
    assert await paste(PLAIN) is None
