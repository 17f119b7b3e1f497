"""The commented file of the first start."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from spark_chat.settings import template as module
from spark_chat.settings.file import parse, read_file
from spark_chat.settings.schema import rows
from spark_chat.settings.template import WIDTH, ensure, template


def test_as_it_stands_it_sets_nothing() -> None:
    file = parse(Path("f"), template())
    assert file.values == {} and file.problems == ()


def test_with_the_marks_taken_away_it_says_the_defaults() -> None:
    names = {row.key.partition(".")[2] for row in rows()}
    lines = [
        line[2:] if line.startswith("# ") and line[2:].partition(" = ")[0] in names else line
        for line in template().split("\n")
    ]
    file = parse(Path("f"), "\n".join(lines))
    assert file.problems == ()
    assert {key: value for key, value in file.values.items() if key not in ("engine.linger_s", "sampling.seed")} == {
        row.key: row.default for row in rows() if row.default is not None
    }


def test_it_says_meaning_range_and_restart_of_each() -> None:
    text = " ".join(line.removeprefix("# ") for line in template().split("\n"))
    for row in rows():
        assert row.doc in text, row.key
    assert "A number from 0 to 5." in text and "takes effect at restart" in text
    assert max(map(len, template().split("\n"))) <= WIDTH + 10


def test_it_is_made_once_and_what_is_there_is_never_touched(tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.toml"
    assert ensure(path) is None
    assert path.read_text() == template()
    path.write_text("broken [")
    assert ensure(path) is None
    assert path.read_text() == "broken ["
    assert [item.name for item in path.parent.iterdir()] == ["settings.toml"]


def test_a_dangling_link_is_left(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.symlink_to("elsewhere")
    assert ensure(path) is None
    assert not path.exists() and read_file(path).problems == ()


def test_where_it_can_not_be_made_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    problem = ensure(tmp_path / "file" / "settings.toml")
    assert "could not be made" in str(problem) and "defaults are used" in str(problem)

    def full(*_: object) -> None:
        raise module.CannotSave("The disk is full.") from OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(module, "write_whole", full)
    assert str(ensure(tmp_path / "settings.toml")) == "The disk is full. Defaults are used."
    assert "could not be made" in str(ensure(Path("a\0/b")))
