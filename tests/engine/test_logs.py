"""Log files: bounded in number and size, and clean when shown."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine import logs


def test_one_file_a_start_and_a_bounded_number(home: Path) -> None:
    made = []
    for number in range(logs.KEPT + 4):
        path, descriptor = logs.create()
        os.utime(path, (number, number))
        os.close(descriptor)
        made.append(path)
    left = sorted(path for path in made if path.exists())
    assert len(left) == logs.KEPT and made[-1] in left and made[0] not in left
    assert made[-1].stat().st_mode & 0o777 == 0o600


def test_a_file_that_grew_too_big_keeps_its_end_and_goes_on(home: Path) -> None:
    path, descriptor = logs.create()
    writer = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(writer, b"".join(b"line %06d\n" % number for number in range(2000)))
    assert logs.shorten(descriptor, 8000)
    assert not logs.shorten(descriptor, 8000)
    os.write(writer, b"after\n")
    lines = logs.tail(path, 5000)
    assert lines[-2:] == ["line 001999", "after"] and path.stat().st_size < 8000
    assert "older lines were cut" in lines[0]
    os.close(writer)
    os.close(descriptor)


def test_what_is_no_file_is_left_alone() -> None:
    reading, writing = os.pipe()
    assert not logs.shorten(writing, 0) and logs.size(writing) is None and logs.since(writing, 0) == []
    os.close(reading)
    os.close(writing)


def test_lines_since_a_position(home: Path) -> None:
    _, descriptor = logs.create()
    os.write(descriptor, b"before\n")
    position = logs.size(descriptor)
    os.write(descriptor, b"one\ntwo\n")
    assert logs.since(descriptor, position) == ["one", "two"]
    os.close(descriptor)


def test_control_sequences_and_progress_bars_are_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\x1b[31mred\x1b[0m\n 10%\r 50%\r100%\r\n\x1b]0;title\x07x\n\n\xff\n" + b"y" * 2000 + b"\n")
    assert logs.tail(path)[:4] == ["red", "100%", "x", "\ufffd"]
    assert len(logs.tail(path)[4]) == 500
    assert logs.tail(path, 1) == ["y" * 500]


@given(st.binary(max_size=300))
def test_no_bytes_give_a_control_character(data: bytes) -> None:
    for line in logs.clean(data):
        assert line and not any((ord(char) < 32 and char != "\t") or 0x7F <= ord(char) <= 0x9F for char in line)


def test_no_log_is_no_error(tmp_path: Path) -> None:
    assert logs.tail(None) == [] and logs.tail(tmp_path / "absent") == []
