"""What the app notes for itself, and noticing what others change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat import locations
from spark_chat.settings.flat import flat, settings_of
from spark_chat.settings.problem import CannotSave
from spark_chat.settings.resolve import resolve
from spark_chat.settings.schema import Settings, rows
from spark_chat.settings.state import State, load_state, save_state
from spark_chat.settings.watch import signature
from tests.settings.files import values


def test_what_ran_comes_back(home: Path) -> None:
    settings = resolve(["mtp=off", "seed=3", "engine.args.a.b=[1, 'x']", "temperature=1"], {}).settings
    state = State.of(settings, "llama.cpp", "SmolLM2", {"load": 1.5, "warm-up": 0.25})
    assert load_state() == State()
    save_state(state)
    assert load_state().ran == settings
    assert load_state().stages == {"load": 1.5, "warm-up": 0.25}
    assert (load_state().engine, load_state().model) == ("llama.cpp", "SmolLM2")
    assert locations.state_file().stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content",
    [b"", b"[", b"\xff", b"engine = 3", b"engine = 'x'\nmodel = 'y'\nsettings = 3\nstages = 4",
     b"engine = 'x'\nmodel = 'y'\n[settings]\n[stages]\nload = 'long'",
     b"engine = 'x'\nmodel = 'y'\n[settings]\n[stages]\nload = 1" + b"0" * 400],
)  # fmt: skip
def test_a_broken_note_is_no_note(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.toml"
    path.write_bytes(content)
    assert load_state(path) == State()
    assert load_state(path).ran is None
    assert load_state(tmp_path) == State()


def test_a_value_no_longer_valid_becomes_its_default(tmp_path: Path) -> None:
    path = tmp_path / "state.toml"
    path.write_text("engine='x'\nmodel='y'\n[stages]\nz = nan\n[settings]\n'ui.mouse'=3\n'sampling.top_k'=7\nold=1\n")
    ran = load_state(path).ran
    assert ran is not None and ran.ui.mouse is True and ran.sampling.top_k == 7
    assert load_state(path).stages == {}


def test_a_note_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotSave, match="could not be noted"):
        save_state(State(), tmp_path / "file" / "state.toml")
    with pytest.raises(CannotSave, match="could not be noted"):
        save_state(State({"engine.args": {"x": None}}), tmp_path / "state.toml")
    assert load_state(tmp_path / "state.toml") == State()


@given(st.fixed_dictionaries({}, optional={row.key: values(row) for row in rows()}))
def test_flat_and_back(chosen: dict[str, object]) -> None:
    settings = settings_of(chosen)
    assert flat(settings) == {**flat(Settings()), **chosen}
    assert settings_of(flat(settings)) == settings


def test_a_signature_changes_when_the_file_does(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    assert signature(path) is None and signature(None) is None and signature(Path("a\0")) is None
    path.write_text("a")
    seen = signature(path)
    assert signature(path) == seen
    path.write_text("ab")
    longer = signature(path)
    assert longer != seen
    os.utime(path, ns=(1, 1))
    assert signature(path) != longer
    same = signature(path)
    other = tmp_path / "new"
    other.write_text("xy")
    os.utime(other, ns=(1, 1))
    other.replace(path)
    assert signature(path) != same
    path.unlink()
    path.symlink_to(tmp_path / "real")
    assert signature(path) is None
    (tmp_path / "real").write_text("through the link")
    assert signature(path) is not None


def test_a_pipe_or_a_device_in_its_place_is_as_good_as_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert load_state(tmp_path / "pipe") == State()
    assert load_state(Path("/dev/zero")) == State()
