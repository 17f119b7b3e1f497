"""The whole chat on a pseudo terminal, with a scripted engine."""

from __future__ import annotations

import hashlib
import re
import signal

import pytest

from tests.terminal.pty_app import PtyApp
from tests.terminal.test_life import RESTORED

EXACT = "a\r\nb\rc\nd\x0be\x0c\x85\u2028\u2029 esc \x1b[31m\x1b\r\x00 [/INST] [/ \u202e é漢🎉\n" * 30
SGR = re.compile(rb"\x1b\[([\d;:]*)m")


def chat(*arguments, **options):
    return PtyApp.python("tests.terminal.fake_chat", *arguments, **options)


def ready(app):
    app.wait_for("write here")
    app.wait_for(lambda: "1.0" in app.text or "n-gram" in app.text)
    return app


def ended_well(app, status=0):
    assert app.wait_ended() == status
    output = bytes(app.output)
    assert [what for what, sequence in RESTORED.items() if sequence not in output] == []
    assert b"Traceback" not in output


@pytest.mark.parametrize("bracketed", [True, False])
def test_the_engine_gets_what_was_pasted(home, bracketed):
    text = EXACT if bracketed else "def f():\n\treturn [1, 2]\n" * 40
    with ready(chat("digest")) as app:
        if bracketed:
            app.paste(text.encode())
        else:
            app.send(text.replace("\n", "\r"))
        app.wait_for("pasted")
        app.settle()
        assert "TTFT" not in app.text
        app.send("\r")
        app.wait_for(hashlib.sha256(text.encode()).hexdigest()[:16])


def test_an_answer_cannot_drive_the_terminal(home):
    with ready(chat("hostile", "--tokens", "10")) as app:
        app.settle()
        began = len(app.output)
        app.send("go\r")
        app.wait_for("after.")
        app.wait_for("10 tok")
        app.settle()
        said = bytes(app.output[began:])
    assert b"\x1b]" not in said and b"\x1b[2J" not in said and b"\x1b[?1049l" not in said
    assert b"\xc2\x9b" not in said and b"\x9b31m" not in said and "\u202e".encode() not in said
    assert "[/INST] [link=x] [/" in app.text and "unterminated" in app.text


@pytest.mark.parametrize("keys", ["\x11", "\x03\x03", "\x04", "/quit\r", "/exit\r", "/bye\r", "exit\r", "quit\r"])
def test_every_way_to_leave(home, keys):
    with ready(chat()) as app:
        app.send(keys)
        ended_well(app)


def test_a_single_ctrl_c_warns_and_stays(home):
    with ready(chat()) as app:
        app.send("\x03")
        app.wait_for("ctrl+c again")
        app.send("hello\r")
        app.wait_for("tok/s")
        app.wait_for("eight.")


@pytest.mark.parametrize("key", ["\x1b", "\x03"])
def test_stopping_keeps_the_part_that_came(home, key):
    with ready(chat("prose", "--rate", "50", "--tokens", "100000")) as app:
        app.send("go\r")
        app.wait_for("lazy dog")
        app.send(key)
        app.wait_for("stopped")
        assert "lazy dog" in app.text
        app.send("more\r")
        app.wait_for(lambda: app.text.count("you ") == 2)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_mid_answer_ends_it_well_and_keeps_what_came(home, number):
    with ready(chat("prose", "--rate", "50", "--tokens", "100000")) as app:
        app.send("go\r")
        app.wait_for("lazy dog")
        app.kill(number)
        ended_well(app, 128 + number)
    assert b"lazy dog" in b"".join(path.read_bytes() for path in home.rglob("history.sqlite3*"))


def test_a_draft_survives_a_kill(home):
    with ready(chat()) as app:
        app.send("half a thought")
        app.wait_for("half a thought")
        app.wait_for(lambda: any(b"half a thought" in path.read_bytes() for path in home.rglob("history.sqlite3*")))
        app.kill(signal.SIGKILL)
        app.wait_ended()
    with chat() as app:
        app.wait_for("half a thought")


def test_prompts_are_recalled_after_a_restart(home):
    with ready(chat()) as app:
        app.send("remember me\r")
        app.wait_for("eight.")
        app.send("\x11")
        ended_well(app)
    with ready(chat()) as app:
        app.settle()
        app.send("\x1b[A")
        app.wait_for("remember me")


def colours(output):
    """Codes of colour that were sent; 39 and 49 are the terminal's own."""
    codes = {int(code or 0) for found in SGR.finditer(output) for code in re.split(rb"[;:]", found[1])}
    return codes & {*range(30, 39), *range(40, 49), *range(90, 108)}


def cells(app, row, attribute):
    """Columns of a row that have it."""
    return [column for column in range(app.screen.columns) if getattr(app.screen.buffer[row][column], attribute)]


@pytest.mark.parametrize("theme", ["spark-dark", "spark-light", "ansi-dark"])
def test_without_colour_no_code_of_one_is_sent_and_states_can_still_be_told(home, theme):
    environment = {"NO_COLOR": "1", "COLORTERM": "truecolor"}
    with ready(chat("code", "--tokens", "40", "--key", f"ui.theme={theme}", environment=environment)) as app:
        app.send("hello\r")
        app.wait_for("40 tok")
        app.settle()
        on, off = re.search(r"(\S) n-gram", app.text), re.search(r"(\S) Humming", app.text)
        assert on and off and on[1] != off[1]
        assert "│ value_0" in app.text, "code has a bar where it has no ground"
        app.send("\x1b[<0;14;6M\x1b[<32;20;6M\x1b[<0;20;6m")
        app.wait_for(lambda: cells(app, 5, "reverse") == list(range(13, 20)))  # what the mouse selected
        app.send("\x10")
        app.wait_for("/help")
        app.send("\x1b[B")
        app.wait_for(lambda: any(len(cells(app, row, "underscore")) > 20 for row in range(24)))  # the line at hand
        app.send("\x1b")
        app.wait_for(lambda: "/help" not in app.text)
        app.send("/settings\r")
        app.wait_for("linger_s")
        app.wait_for(lambda: any(len(cells(app, row, "underscore")) > 20 for row in range(24)))
        app.settle()
        assert colours(bytes(app.output)) == set()


def test_with_colours_their_codes_are_sent(home):
    with ready(chat(environment={"COLORTERM": "truecolor"})) as app:
        app.settle()
        assert {38, 48} <= colours(bytes(app.output))


def test_256_colours_are_enough(home):
    with ready(chat(term="screen-256color")) as app:
        app.settle()
        assert b"38;5;" in app.output and b"38;2;" not in app.output


def test_mouse_false_leaves_the_mouse_alone(home):
    with ready(chat("--key", "ui.mouse=false")) as app:
        app.settle()
        assert b"\x1b[?1000h" not in app.output and b"\x1b[?1003h" not in app.output


@pytest.mark.parametrize("size", [(20, 5), (40, 12), (200, 60)])
def test_any_size_answers(home, size):
    with chat("digest", size=size) as app:
        app.wait_for(lambda: b"\x1b[?1049h" in app.output)
        app.send("hi\r")
        app.wait_for("cold")
        app.send("typed")
        app.wait_for("typed")
        app.send("\x11")
        ended_well(app)


def test_resizing_while_it_streams_keeps_prompt_and_answer(home):
    with ready(chat("prose", "--rate", "100", "--tokens", "100000", size=(200, 40))) as app:
        app.send("go\r")
        app.wait_for("lazy dog")
        app.send("a draft")
        for size in ((40, 20), (20, 5), (120, 40)):
            app.resize(*size)
            app.wait_for("a draft")
        app.wait_for("lazy dog")


def test_without_a_home_it_says_so_and_chats(home):
    nowhere = {name: "" for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    with chat("digest", environment=nowhere) as app:
        app.wait_for("write here")
        app.send("hi\r")
        app.wait_for(hashlib.sha256(b"hi").hexdigest()[:16])
        assert "Traceback" not in app.text


def test_focus_reports_from_the_terminal_change_nothing(home):
    with ready(chat()) as app:
        app.send("\x1b[O\x1b[I")
        app.send("hello")
        app.wait_for("hello")
        assert "TTFT" not in app.text


def test_in_accessible_mode_nothing_repaints_by_itself(home):
    with ready(chat("--key", "ui.accessible=true")) as app:
        app.send("hello\r")
        app.wait_for("eight.")
        app.settle(1.0)
        before = len(app.output)
        app.settle(2.5)
        assert bytes(app.output[before:]) == b""


def test_a_found_draft_is_a_key_away_where_one_typed_sooner(home):
    with ready(chat()) as app:
        app.send("half a thought")
        app.wait_for("half a thought")
        app.wait_for(lambda: any(b"half a thought" in path.read_bytes() for path in home.rglob("history.sqlite3*")))
        app.kill(signal.SIGKILL)
        app.wait_ended()
    with chat() as app:
        app.send("sooner")
        app.wait_for("n-gram")
        app.wait_for("sooner")
        app.settle()
        app.send("\x1b[A")
        app.wait_for("half a thought")
        app.send("\x1b[B")
        app.wait_for("sooner")
