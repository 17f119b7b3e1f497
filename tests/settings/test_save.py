"""Saving: one line, whole or not at all, never over an invalid file, through links, with the mode kept."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from spark_chat.settings import atomic
from spark_chat.settings.problem import BadValue, CannotSave, InvalidFile, SettingsError, UnknownKey
from spark_chat.settings.resolve import resolve
from spark_chat.settings.save import save
from spark_chat.settings.template import template

TEXT = "# mine\n[ui]\nmouse = true # why\n\n[sampling]\ntop_k = 5\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(TEXT)
    return path


def test_one_line_differs_and_the_mode_is_kept(path: Path) -> None:
    path.chmod(0o640)
    assert save(path, {"ui.mouse": False}) is True
    assert path.read_text() == TEXT.replace("true", "false")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [item.name for item in path.parent.iterdir()] == ["settings.toml"]


def test_what_it_says_already_is_not_written_again(path: Path) -> None:
    before = path.stat()
    assert save(path, {"ui.mouse": True, "sampling.top_k": 5}) is False
    assert path.stat().st_ino == before.st_ino and path.stat().st_mtime_ns == before.st_mtime_ns


def test_none_takes_out_what_may_be_left_out(path: Path) -> None:
    save(path, {"sampling.seed": 3})
    assert resolve(environ={}, path=path).settings.sampling.seed == 3
    save(path, {"sampling.seed": None})
    assert path.read_text() == TEXT
    with pytest.raises(BadValue, match=r"ui\.mouse has no value"):
        save(path, {"ui.mouse": None})


def test_a_missing_file_is_made_with_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.toml"
    save(path, {"ui.mouse": False})
    assert path.read_text() == template().replace("# mouse = true\n", "# mouse = true\nmouse = false\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("text", ["[ui]\nmouse = 3\n", "[ui\n", "[iu]\n", "[ui]\nmouse = false\nmouse = true\n"])
def test_a_file_broken_while_the_app_runs_is_left_alone(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(InvalidFile, match=str(path)):
        save(path, {"ui.mouse": True})
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"ui.mouse": 1}, BadValue, "true or false"),
        ({"ui.muose": True}, UnknownKey, "did you mean ui.mouse?"),
        ({"ui.mouse": False, "sampling.top_k": -1}, BadValue, "from 0 to"),
        ({"engine.args.x": float("nan")}, BadValue, "finite"),
        ({"ui.theme": "\udcff"}, BadValue, "no text"),
    ],
)
def test_a_bad_change_changes_nothing(path: Path, changes: dict[str, Any], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        save(path, changes)
    assert path.read_text() == TEXT


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = path.rename(tmp_path / "dotfiles" / "s.toml")
    path.symlink_to("dotfiles/s.toml")
    save(path, {"ui.mouse": False})
    assert path.is_symlink() and real.read_text() == TEXT.replace("true", "false")


def test_a_read_only_file_and_folder_are_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for anyone but root
    with pytest.raises(CannotSave, match=r"settings\.toml could not be written \(it is read-only\)"):
        save(path, {"ui.mouse": False})
    monkeypatch.undo()

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(atomic.tempfile, "mkstemp", refused)
    with pytest.raises(CannotSave, match=r"read-only file system\)\. Name a file elsewhere with --config"):
        save(path, {"ui.mouse": False})
    assert path.read_text() == TEXT


@pytest.mark.parametrize("when", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full) if when == "fsync" else monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(CannotSave, match=r"no space left on device\)\. Free some space"):
        save(path, {"ui.mouse": False})
    assert path.read_text() == TEXT
    assert [item.name for item in path.parent.iterdir()] == ["settings.toml"]


def test_a_folder_that_can_not_be_made_is_said(path: Path) -> None:
    with pytest.raises(CannotSave, match="could not be made"):
        save(path / "below" / "settings.toml", {"ui.mouse": False})


def test_what_an_editor_saves_meanwhile_is_not_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spark_chat.settings import save as module

    real, theirs = module.edited, TEXT + "temperature = 0.1\n"

    def slow(text: str, changes: Any) -> str:
        if path.read_text() == TEXT:
            path.write_text(theirs)
        return real(text, changes)

    monkeypatch.setattr(module, "edited", slow)
    save(path, {"ui.mouse": False})
    assert path.read_text() == theirs.replace("true", "false")


def test_two_writers_at_once_both_stay(path: Path) -> None:
    changes = [{"ui.mouse": False}, {"sampling.top_k": 9}, {"ui.theme": "x"}, {"sampling.top_p": 0.25}]
    threads = [threading.Thread(target=save, args=(path, change)) for change in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    settings = resolve(environ={}, path=path).settings
    assert (settings.ui.mouse, settings.sampling.top_k, settings.ui.theme, settings.sampling.top_p) == (
        False, 9, "x", 0.25,
    )  # fmt: skip


def test_every_refusal_is_one_kind_of_error() -> None:
    assert all(issubclass(kind, SettingsError) for kind in (BadValue, CannotSave, InvalidFile, UnknownKey))
