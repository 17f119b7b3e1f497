"""Variables of Textual's and rich's: a hostile value is a sentence, any other is honoured."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.tui.environment import COLOR_SYSTEMS, NUMBERS, refusal
from tests.cli.process import run
from tests.terminal.pty_app import PtyApp

pytestmark = pytest.mark.usefixtures("home")

BAD = {
    "TEXTUAL_COLOR_SYSTEM": ("bogus", "", "\x1b[2J"),
    "TEXTUAL_DIM_FACTOR": ("9" * 400, "9" * 5000),
    "ESCDELAY": ("1" + "0" * 400,),
    "TEXTUAL_FPS": ("1_0" * 100,),
    "COLUMNS": ("999999999",),
    "TEXTUAL_LOG": ("/", "/proc/nothing/log", "a\0b"),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_a_hostile_value_is_named_in_one_sentence(name: str, value: str) -> None:
    said = refusal({name: value})
    assert said is not None and said.startswith(f"The variable {name} is ") and "Set it to that, or unset it." in said
    assert said.isprintable() and len(said) < 250


def test_what_textual_takes_or_passes_over_is_left_to_it(tmp_path: Path) -> None:
    assert all(refusal({"TEXTUAL_COLOR_SYSTEM": name}) is None for name in COLOR_SYSTEMS)
    assert all(refusal({name: value}) is None for name in NUMBERS for value in ("", "x", "-1", "1", "1.5"))
    fine = {"TEXTUAL_LOG": str(tmp_path / "log"), "TEXTUAL_THEME": "bogus", "NO_COLOR": "1", "TEXTUAL_FILTERS": "x"}
    assert refusal(fine) is None


@given(st.text(max_size=30))
def test_no_number_is_too_strange(text: str) -> None:
    said = refusal({"TEXTUAL_FPS": text})
    try:
        number = int(text)
    except ValueError:
        assert said is None
    else:
        assert (said is None) == (abs(number) <= NUMBERS["TEXTUAL_FPS"])


@pytest.mark.parametrize(("name", "value"), [("TEXTUAL_COLOR_SYSTEM", "bogus"), ("TEXTUAL_DIM_FACTOR", "9" * 400)])
def test_the_chat_ends_with_the_sentence(name: str, value: str) -> None:
    with PtyApp.python("spark_chat", environment={name: value}) as app:
        assert app.wait_ended() == 2
    assert name.encode() in app.output and b"Traceback" not in app.output and b"\x1b[?1049h" not in app.output


def test_a_command_that_looks_at_themes_says_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_DIM_FACTOR", "9" * 400)
    done = run("settings", "set", "ui.theme", "spark-dark")
    assert done.code == 2 and "TEXTUAL_DIM_FACTOR" in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("name", "value"),
    [("TEXTUAL_THEME", "bogus"), ("TEXTUAL_FILTERS", "bogus,dim"), ("TEXTUAL_FPS", "x"), ("NO_COLOR", "1")],
)
def test_other_values_draw(name: str, value: str) -> None:
    with PtyApp.python("tests.terminal.fake_chat", environment={name: value}) as app:
        app.wait_for("n-gram")
