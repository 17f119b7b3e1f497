"""A moment is said, whatever stands for one; and no folder of the system makes Python talk to the person."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat import locations, moment
from spark_chat.engine.lock import folder
from spark_chat.engine.refusals import clock
from spark_chat.tui.talks.rows import when


@given(st.none() | st.text() | st.integers() | st.floats() | st.lists(st.integers()))
def test_any_value_is_said_as_a_moment_or_as_none(value: object) -> None:
    now = moment.local(1_700_000_000)
    assert now is not None
    assert moment.minute(value)
    assert math.isfinite(moment.seconds(value))
    clock(value)  # type: ignore[arg-type]
    when(value, now)  # type: ignore[arg-type]


def test_a_true_moment_is_kept() -> None:
    assert moment.seconds(1_700_000_000.5) == 1_700_000_000.5
    assert moment.minute(1_700_000_000).startswith("2023-11-1")


def test_a_runtime_folder_that_others_can_read_is_no_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(home))
    for state in ("open", "missing", "unset"):
        if state == "open":
            (home / "runtime").chmod(0o755)
        elif state == "missing":
            monkeypatch.setenv("XDG_RUNTIME_DIR", str(home / "nowhere"))
        else:
            monkeypatch.delenv("XDG_RUNTIME_DIR")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            place = locations.runtime()
        assert place.name == "spark-chat" and not said


def test_a_stand_in_folder_that_is_no_folder_of_ours_is_refused_in_a_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> str:
        raise PermissionError("runtime directory /tmp/x is owned by uid 5, not 6; set XDG_RUNTIME_DIR instead")

    monkeypatch.setattr(type(locations._folders()), "user_runtime_dir", property(refused))
    with pytest.raises(locations.NoHome, match="set XDG_RUNTIME_DIR instead"):
        folder()
