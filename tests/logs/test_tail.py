"""The end of a log: each line once, whatever its writer does to the file; never a control character."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_chat.engine.logs import shorten
from spark_chat.logs.files import app_file, engine_files, newest
from spark_chat.logs.sieve import Sieve
from spark_chat.logs.tail import Tail

pytestmark = pytest.mark.usefixtures("home")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab \n", max_size=12), max_size=12))
def test_what_is_written_piece_by_piece_is_read_line_by_line(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    path = tmp_path_factory.mktemp("log") / "worker-1.log"
    path.write_text("")
    tail, found = Tail(path), []
    for piece in pieces:
        with path.open("a") as file:
            file.write(piece)
        found += tail.new()
    found += tail.rest()
    assert found == [line.rstrip() for line in "".join(pieces).split("\n") if line.strip()]


def test_the_first_look_begins_with_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("first line\nsecond line\nthird\n")
    assert Tail(path, first=10).new() == ["third"]
    assert Tail(path, first=6).new() == []
    assert Tail(path, first=1000).new() == ["first line", "second line", "third"]


def test_one_that_is_cut_by_its_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old\n" * 1000)
    tail = Tail(path)
    assert len(tail.new()) == 1000
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    assert shorten(descriptor, 400)
    os.write(descriptor, b"new\n")
    os.close(descriptor)
    assert tail.new()[-1] == "new"
    assert tail.new() == []


def test_hostile_text_is_harmless_and_a_missing_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\x1b]52;c;aGk=\x07b\x1b[2J\x9b\xff c\rd\n\x00e\n")
    assert all(line.isprintable() for line in Tail(path).new())
    path.unlink()
    with pytest.raises(OSError):
        Tail(path).new()


def test_the_newest_start_comes_first(home: Path) -> None:
    assert newest("engine") is None and newest("app") is None
    folder = app_file().parent
    folder.mkdir(parents=True)
    for number, name in enumerate(("worker-a.log", "worker-c.log", "worker-b.log", "other.log")):
        (folder / name).write_text("x")
        os.utime(folder / name, (number, number))
    assert [path.name for path in engine_files()] == ["worker-b.log", "worker-c.log", "worker-a.log"]
    app_file().write_text("x")
    assert newest("app") == app_file()


def test_a_filter_wants_all_words_and_none_with_a_minus() -> None:
    sieve = Sieve("Slot -init")
    assert sieve.passes("I SLOT launch") and not sieve.passes("slot init_sampler") and not sieve.passes("launch")
    assert Sieve("").passes("") and Sieve(" - ").passes("a - b") and not Sieve("[/").passes("x")
