"""Files for a prompt: found, ranked, read, refused by name, and noticed when they change."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.files.attachment import LARGEST, Attachment, Refused, attach, full, short
from spark_chat.files.dropped import paths
from spark_chat.files.rank import ranked
from spark_chat.files.walk import below, inside


def write(path: Path, content: str | bytes = "x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ------------------------------------------------------------------ found


def test_near_files_come_first_and_what_is_ignored_fetched_or_hidden_does_not_come(tmp_path: Path) -> None:
    for name in (
        "deep/er/a.py",
        "b.py",
        "out/x.log",
        "keep.log",
        "node_modules/m/i.js",
        ".git/config",
        ".env",
        "deep/t.tmp",
    ):
        write(tmp_path / name)
    write(tmp_path / ".gitignore", "*.log\n!keep.log\n/deep/*.tmp\n")
    write(tmp_path / "deep/.gitignore", "er/\n")
    write(tmp_path / "deep/c d.txt")
    found = below(tmp_path)
    assert found.whole
    assert found.paths == (".env", ".gitignore", "b.py", "keep.log", "deep/.gitignore", "deep/c d.txt")


def test_the_walk_is_bounded_in_number_and_in_time_and_goes_in_no_circle(tmp_path: Path) -> None:
    for number in range(50):
        write(tmp_path / f"{number % 5}/{number}.txt")
    (tmp_path / "0/loop").symlink_to(tmp_path)
    assert len(below(tmp_path).paths) == 50
    few = below(tmp_path, most=10)
    assert len(few.paths) == 10 and not few.whole
    assert not below(tmp_path, within_s=-1).whole
    assert below(tmp_path / "nowhere").paths == ()


def test_a_broken_gitignore_and_odd_names_hold_nothing_up(tmp_path: Path) -> None:
    write(tmp_path / ".gitignore", b"[\xff\n***\n\\\n")
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path / "line\nend")
    (tmp_path / "gone").symlink_to("nowhere")
    assert set(below(tmp_path).paths) == {".gitignore", "line\nend"}
    assert inside(tmp_path) == (".gitignore", "gone", "line\nend", "pipe")


# ------------------------------------------------------------------ ranked


def test_names_that_begin_so_come_first_then_whole_pieces_then_scattered_letters() -> None:
    files = ["src/deep/app.py", "x/a_p_p.py", "application/readme", "my_app.py", "APP.md"]
    assert ranked(files, "app", 9) == ["APP.md", "src/deep/app.py", "my_app.py", "application/readme", "x/a_p_p.py"]
    assert ranked(files, "zz", 9) == []
    assert ranked(files, "", 2) == ["APP.md", "my_app.py"]
    assert ranked(files, "s/d/a", 9) == ["src/deep/app.py"]


@given(st.lists(st.text(alphabet="abA/.é[(", max_size=8)), st.text(alphabet="abA.é[(", max_size=5), st.integers(1, 5))
def test_whatever_is_typed_what_comes_holds_its_letters_in_order(files: list[str], query: str, most: int) -> None:
    found = ranked(files, query, most)
    assert len(found) <= most and all(path in files for path in found)
    for path in found:
        rest = iter(path.casefold())
        assert all(char in rest for char in query.casefold())


def test_twenty_thousand_paths_are_ranked_between_two_keys() -> None:
    files = [f"package{number % 97}/module{number % 13}/file_{number}.py" for number in range(20_000)]
    begun = time.thread_time()
    assert ranked(files, "mod7file19", 8)
    assert time.thread_time() - begun < 1.0


# ------------------------------------------------------------------ read


def test_a_text_file_is_named_from_where_one_works_and_fenced_so_that_nothing_in_it_ends_the_fence(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "a b/notes.md", "one\n````\ntwo")
    found = attach(path, tmp_path)
    assert (found.name, found.text) == ("a b/notes.md", "one\n````\ntwo")
    assert found.inlined == "a b/notes.md:\n`````md\none\n````\ntwo\n`````\n"
    assert not found.moved


def test_names_outside_of_the_working_folder(tmp_path: Path, home: Path) -> None:
    assert short(home / "x/y", tmp_path / "elsewhere") == "~/x/y"
    assert short(Path("/etc/hosts"), tmp_path) == "/etc/hosts"
    assert short(tmp_path / "a\nb\x1b[2J", tmp_path) == "a\ufffdb\ufffd[2J"
    assert full("~/x", tmp_path) == home / "x" and full("../x", tmp_path) == tmp_path.parent / "x"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: write(path, b"a\0b"), "no text file"),
        (lambda path: write(path, b"caf\xe9"), "no UTF-8 text (byte 3"),
        (lambda path: write(path, b""), "is empty"),
        (lambda path: write(path, b"x" * (LARGEST + 1)), f"has {LARGEST + 1:,} bytes"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: os.mkfifo(path), "no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "no regular file"),
        (lambda path: path.symlink_to(path), "too many levels"),
        (lambda path: None, "There is no file"),
    ],
    ids=["binary", "latin", "empty", "large", "folder", "pipe", "device", "loop", "missing"],
)
def test_what_cannot_go_along_is_refused_by_name(tmp_path: Path, make: object, says: str) -> None:
    path = tmp_path / "the file.txt"
    make(path)  # type: ignore[operator]
    with pytest.raises(Refused, match=r"the file\.txt") as refused:
        attach(path, tmp_path)
    assert says in str(refused.value)


def test_a_file_without_permission_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(path: Path, most: int) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("spark_chat.ordinary.read", forbidden)
    with pytest.raises(Refused, match=r"x\.txt may not be read by you"):
        attach(write(tmp_path / "x.txt"), tmp_path)


def test_a_change_and_an_end_of_the_file_are_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", "one")
    found = attach(path, tmp_path)
    path.write_text("three")
    assert found.moved
    path.unlink()
    assert found.moved
    assert not Attachment(path, "x.txt", "one", None).moved


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1))
def test_any_text_comes_out_of_its_fence_as_it_was(text: str) -> None:
    name, fence, *rest = Attachment(Path("x.py"), "x.py", text, None).inlined.split("\n")
    ticks = fence.removesuffix("py")
    assert name == "x.py:" and set(ticks) == {"`"} and len(ticks) >= 3
    assert rest[-1] == "" and rest[-2] == ticks
    inner = "\n".join(rest[:-2])
    assert inner == text.removesuffix("\n") and ticks not in inner


# ------------------------------------------------------------------ dropped


def test_the_ways_in_which_terminals_paste_a_dropped_file(tmp_path: Path) -> None:
    one, two = write(tmp_path / "my file.txt"), write(tmp_path / "b.txt")
    for text in (str(one), f"'{one}'", f'"{one}" ', str(one).replace(" ", "\\ "), one.as_uri(), f"{one.as_uri()}\n"):
        assert paths(text) == (one,), text
    assert paths(f"'{one}' '{two}'") == (one, two)


@pytest.mark.parametrize(
    "text", ["", "/", "/nowhere/x", "hello", "/etc/hosts is a file", "'unclosed", "file://host/etc/hosts", "/etc"]
)
def test_what_is_no_dropped_file(text: str) -> None:
    assert paths(text) == ()


@given(st.text(max_size=50))
def test_any_paste_is_looked_at_without_a_fault(text: str) -> None:
    assert isinstance(paths(text), tuple)
