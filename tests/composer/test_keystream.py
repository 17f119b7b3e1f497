"""Bytes of a terminal into keys and pastes, with the clock driven by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.tui.keystream import END, ESCAPE, ESCAPE_S, LOST_END_S, QUIET_S, START, KeyStream, Pasted


class Typing:
    """Feeds reads at their times, ticks when due, and collects what comes out."""

    def __init__(self):
        self.stream, self.now, self.out = KeyStream(), 0.0, []

    def read(self, data, after=0.0):
        self.wait(after)
        self.out += self.stream.feed(data, self.now)
        return self

    def wait(self, seconds):
        until = self.now + seconds
        while self.stream.deadline is not None and self.stream.deadline <= until:
            self.now = max(self.now, self.stream.deadline)
            self.out += self.stream.tick(self.now)
        self.now = until

    def end(self):
        self.wait(60)
        merged = []
        for piece in self.out:
            if isinstance(piece, bytes) and merged and isinstance(merged[-1], bytes):
                merged[-1] += piece
            elif piece:
                merged.append(piece)
        return merged


def typed(*reads, gap=0.001):
    typing = Typing()
    for data in reads:
        typing.read(data, gap)
    return typing.end()


@pytest.mark.parametrize("reads", [(b"hello\r",), (b"hello", b"\r"), (b"h", b"ello\r"), (b"x" * 300 + b"\r",)])
def test_text_and_enter_at_once_sends(reads):
    out = typed(*reads)
    whole = b"".join(piece.data if isinstance(piece, Pasted) else piece for piece in out)
    assert whole == b"".join(reads)
    assert isinstance(out[-1], bytes) and out[-1].endswith(b"\r")


@pytest.mark.parametrize(
    "reads",
    [
        (b"a\rb\rc\r",), (b"a\r", b"b\r", b"c\r"), (b"a\r", b"b"), (b"a\nb\r",), (b"a\r\r",), (b"a\r", b"\r"),
        (b"\tif x:\r\t\tpass\r",), (b"x" * 4096, b"y\rz\r"), (b"a", b"\rb", b"\r"),
        (b"a\r", b"\x1b[<35;3;4M", b"b\r"),
    ],
)  # fmt: skip
def test_an_unbracketed_paste_never_presses_enter(reads):
    keys = b"".join(piece for piece in typed(*reads) if isinstance(piece, bytes))
    assert b"\r" not in keys and b"\t" not in keys


def test_enter_is_pressed_once_nothing_follows():
    typing = Typing().read(b"a\r")
    assert b"\r" not in b"".join(typing.out)
    typing.wait(QUIET_S)
    assert typing.out[-1] == b"\r"


def test_enter_after_a_paste_sends():
    typing = Typing().read(b"a\rb\r")
    typing.read(b"\r", after=2 * QUIET_S)
    assert typing.end() == [Pasted(b"a\rb\r"), b"\r"]


def test_what_the_terminal_reports_does_not_undo_an_enter():
    for report in (b"\x1b[<35;10;10M", b"\x1b[I", b"\x1b[O", b"\x1b[?2026;2$y", b"\x1b[5;7R", b"\x1b[48;24;80;0;0t"):
        assert typed(b"a\r", report)[-1].endswith(b"\r")


def test_a_control_key_after_enter_does_not_undo_it():
    assert typed(b"a\r", b"\x03") == [b"a\r\x03"]


@pytest.mark.parametrize("reads", [(b"a\x1b\r",), (b"a\x1b", b"\r"), (b"a", b"\x1b\n")])
def test_alt_enter_is_a_newline(reads):
    out = b"".join(typed(*reads))
    assert b"\r" not in out and out.endswith(b"\n")


def test_escape_and_then_enter_are_two_keys():
    assert typed(b"\x1b", b"\r", gap=0.5) == [ESCAPE + b"\r"]
    typing = Typing().read(b"\x1b").read(b"\r", after=0.5)
    typing.wait(1)
    assert b"".join(typing.out) == ESCAPE + b"\r"


def test_enter_right_after_the_escape_key_has_acted_is_enter():
    typing = Typing().read(b"\x1b")
    typing.wait(ESCAPE_S)
    assert typing.out == [ESCAPE]
    typing.read(b"\r", after=0.001)
    assert typing.end() == [ESCAPE + b"\r"]


@pytest.mark.parametrize("text", ["Count", "Once more", "OK", "hi\r", "x\r", "ééé", "日本", "a b", "O\r"])
@pytest.mark.parametrize("cut", [False, True])
def test_escape_and_then_text_keep_their_order_and_lose_nothing(text, cut):
    data = text.encode()
    reads = (b"\x1b", data) if cut else (b"\x1b" + data,)
    assert b"".join(typed(*reads)) == ESCAPE + data


def test_escape_and_a_letter_of_a_later_read_are_two_keys():
    assert b"".join(typed(b"\x1b", b"C")) == ESCAPE + b"C"


@pytest.mark.parametrize("key", [b"\x1bo", b"\x1b\xc3\xa9", b"\x1bb\x1bb", b"\x1bOP", b"\x1bOA\x1bOA", b"\x1bOAx"])
def test_alt_and_a_letter_alone_stay_what_they_are(key):
    assert b"".join(typed(key)) == key


@pytest.mark.parametrize("key", [b"\x1b[A", b"\x1bOP", b"\x1b[200~x\x1b[201~"])
def test_a_sequence_that_a_read_cuts_after_its_escape_is_whole(key):
    assert typed(key[:1], key[1:]) == typed(key)


def test_keys_pass_unchanged():
    keys = b"a\x1b[A\x1bOP\x1b[1;5C\x01\x7f\xc3\xa9\x1b[13;2u\x1b[97;;97u\x1bb\x1b[<0;3;4M\n"
    assert typed(keys) == [keys]


def test_an_event_type_that_the_parser_cannot_read_is_left_out():
    assert typed(b"\x1b[13;2:1u") == [b"\x1b[13;2u"]


@given(st.binary(max_size=300), st.lists(st.integers(0, 320), max_size=6), st.binary(max_size=3))
def test_a_bracketed_paste_is_exact_in_any_split(data, cuts, around):
    around = around.translate(None, b"\x1b\r\n\t")
    data = data.replace(END, b"")
    whole = around + START + data + END + around
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    out = typed(*(whole[a:b] for a, b in pairwise(places)))
    assert [piece.data for piece in out if isinstance(piece, Pasted)] == ([data] if data else [])
    assert b"".join(piece for piece in out if isinstance(piece, bytes)) == around * 2


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.sampled_from([0.0, 0.01, 0.03, 0.1, 3.0]))
def test_nothing_typed_is_lost(reads, gap):
    def plain(data):
        return data.replace(b"\r", b"\n")

    reads = [data.translate(None, b"\x1b") for data in reads]
    out = typed(*reads, gap=gap)
    got = b"".join(piece.data if isinstance(piece, Pasted) else piece for piece in out)
    assert plain(got) == plain(b"".join(reads))


@given(st.lists(st.text("ab \t\n", min_size=1, max_size=8), min_size=2, max_size=6))
def test_lines_that_come_within_the_quiet_time_never_press_enter(parts):
    data = "".join(parts).replace("\n", "\r").encode()
    if len(data.split(b"\r")) < 3:  # one line end only: `hello` and Enter
        return
    out = typed(*(part.replace("\n", "\r").encode() for part in parts), gap=QUIET_S / 2)
    assert b"\r" not in b"".join(piece for piece in out if isinstance(piece, bytes))


def test_a_paste_within_a_paste_mark_is_text():
    assert typed(START + b"a" + START + b"b" + END) == [Pasted(b"a" + START + b"b")]


def test_a_paste_whose_end_was_lost_comes_and_can_be_left():
    typing = Typing().read(START + b"text")
    typing.wait(LOST_END_S)
    assert typing.out == [Pasted(b"text")]
    typing.read(b"more", after=1).wait(LOST_END_S)
    assert typing.out == [Pasted(b"text"), Pasted(b"more")]
    typing.read(b"\x03").read(b"key", after=1)
    assert typing.end()[-1] == b"key"


def test_bytes_that_are_no_utf8_read_as_replacements():
    assert Pasted(b"a\xff\x9b\xc3\xa9").text == "a\ufffd\ufffdé"
