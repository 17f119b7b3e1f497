"""Pastes and newline keys on a real pseudo terminal, compared by hash."""

from __future__ import annotations

import hashlib
import json

import psutil
import pytest

from tests.terminal.pty_app import PASTE_END, PASTE_START, PtyApp

EVERY_LINE_END = "a\r\nb\rc\nd\x0be\x0cf\x1cg\x1dh\x1ei\x85j\u2028k\u2029l"
HOSTILE = "esc \x1b[31m \x1b]52;c;aGk=\x07 \x1b\r nul \x00 c1 \x9b \u202e bidi\n \x1b"
FUNCTION = "def f(x):\n" + "".join(f"\tif x == {n}:\n\t\treturn {n}\n" for n in range(20)) + "\treturn None\n"


@pytest.fixture
def host(tmp_path, home):
    log = tmp_path / "log.jsonl"
    with PtyApp.python("tests.terminal.host_app", str(log)) as app:
        app.heard = lambda: [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        app.sent = lambda: [what for what in app.heard() if "sha" in what]
        app.wait_for("write here")
        yield app


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def send_and_check(app, *texts):
    """Enter, and what arrives is exactly `texts`, a message each."""
    app.send("\r")
    app.wait_for(lambda: len(app.sent()) == len(texts))
    assert [what["sha"] for what in app.sent()] == [digest(text) for text in texts]


@pytest.mark.parametrize("text", [EVERY_LINE_END, HOSTILE, "one line", "é漢🎉\u200d\ue0b0\U000f0001\n", FUNCTION])
def test_what_is_sent_is_what_was_pasted(host, text):
    host.paste(text.encode())
    host.settle()
    assert host.sent() == []
    send_and_check(host, text)


def test_a_megabyte_is_exact_and_fast(host):
    line = "0123456789 The quick brown fox, and so on, at some length.\r\n"
    text = (line * (1_048_576 // len(line) + 1))[:1_048_576]
    host.send("before ")
    before = sum(psutil.Process(host.pid).cpu_times()[:2])
    host.paste(text.encode())
    host.wait_for("pasted 1.0 MB")
    took = sum(psutil.Process(host.pid).cpu_times()[:2]) - before  # of a processor: others may use them too
    host.send(" after")
    host.wait_for("after")
    assert host.sent() == []
    send_and_check(host, f"before {text} after")
    assert took < 1.0


def test_a_terminal_that_turns_line_ends_into_cr_is_understood(host):
    host.paste(FUNCTION.replace("\n", "\r").encode())
    host.settle()
    send_and_check(host, FUNCTION)


def test_an_unbracketed_paste_is_one_message(host):
    host.send(FUNCTION.replace("\n", "\r"))
    host.wait_for("pasted")
    assert host.sent() == []
    send_and_check(host, FUNCTION)


def test_hello_and_enter_in_one_write_sends(host):
    host.send("hello\r")
    host.wait_for(lambda: host.sent())
    assert host.sent()[0]["sent"] == "hello"


def test_what_is_typed_while_it_starts_is_kept(tmp_path, home):
    with PtyApp.python("tests.terminal.host_app", str(tmp_path / "log")) as app:
        app.send("typed early")
        app.wait_for(lambda: b"\x1b[?1049h" in app.output)
        app.send(", and then some")
        app.wait_for("typed early, and then some")


@pytest.mark.parametrize("newline", ["\n", "\x1b\r", "\x1b[13;2u", "\x1b[13;3u", "\x1b[27;2;13~", "\x1b[27;3;13~"])
def test_newline_keys_of_all_protocols(host, newline):
    host.send("a")
    host.send(newline)
    host.send("b")
    host.wait_for(lambda: "\n" in host.text and "b" in host.text)
    host.settle()
    send_and_check(host, "a\nb")


@pytest.mark.parametrize("enter", ["\x1b[13u", "\x1b[57414u"])
def test_the_kitty_protocol_types_and_sends(host, enter):
    host.send("".join(f"\x1b[{ord(letter)};;{ord(letter)}u" for letter in "hi") + enter)
    host.wait_for(lambda: host.sent())
    assert host.sent()[0]["sent"] == "hi"


def test_bytes_that_are_no_utf8_do_not_end_the_input(host):
    host.paste(b"ok \xff\xfe \xc3")
    host.send(b"\xff")
    host.send("!")
    host.wait_for("!")
    host.settle()
    assert "Traceback" not in host.text
    host.send("\r")
    host.wait_for(lambda: host.sent())
    assert host.sent()[0]["sent"].startswith("ok \ufffd\ufffd \ufffd") and host.sent()[0]["sent"].endswith("!")


def test_a_sequence_that_the_parser_chokes_on_does_not_end_the_input(host):
    host.send(b"\x1b[13;x;1u\x1b[9999999999;2u\x1b[999999999999u")
    host.settle()
    host.send("still here\r")
    host.wait_for(lambda: host.sent())
    assert host.sent()[0]["sent"].endswith("still here")


def test_an_end_mark_cut_by_reads(host):
    for piece in (PASTE_START[:3], PASTE_START[3:] + b"text" + PASTE_END[:2], PASTE_END[2:5], PASTE_END[5:]):
        host.send(piece)
    host.wait_for("text")
    host.settle()
    send_and_check(host, "text")


def test_typing_while_a_chip_is_open_is_kept(host):
    host.paste(EVERY_LINE_END.encode())
    host.wait_for("pasted")
    host.send("\x1bo")
    host.wait_for("esc closes")
    host.send("more")
    host.wait_for("more")
    host.send("\x1b")
    host.wait_for(lambda: "esc closes" not in host.text)
    send_and_check(host, EVERY_LINE_END + "more")


def test_what_is_pasted_never_reaches_the_terminal_as_a_sequence(host):
    host.paste(HOSTILE.encode())
    host.wait_for("pasted")
    host.send("\x1bo")
    host.wait_for("esc closes")
    host.settle()
    assert b"\x1b]52" not in host.output and "\u202e".encode() not in host.output and b"\xc2\x9b" not in host.output
