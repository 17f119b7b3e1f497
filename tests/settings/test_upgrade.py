"""A settings file of an older spark-chat is brought forward, with a copy; one of a newer spark-chat is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.settings import migrate
from spark_chat.settings.file import parse, read_file
from spark_chat.settings.migrate import Step
from spark_chat.settings.problem import SettingsError
from spark_chat.settings.save import save
from spark_chat.settings.template import template
from spark_chat.settings.upgrade import forward

OLD = """# mine
[engine]
draft = 5  # tuned
model = "x.gguf"

[sampling]
greedy = true
gone = 1
"""


@pytest.fixture
def two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        migrate, "STEPS",
        (
            Step({"engine.draft": "optimizations.drafts", "sampling.gone": None}),
            Step({"optimizations.drafts": "optimizations.draft_steps", "sampling.greedy": "sampling.temperature"},
                 {"sampling.temperature": lambda greedy: 0.0 if greedy is True else 0.6}),
        ),
    )  # fmt: skip


@pytest.mark.usefixtures("two_steps")
def test_an_old_file_is_brought_forward_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(OLD)
    wanted = {"optimizations.draft_steps": 5, "engine.model": "x.gguf", "sampling.temperature": 0.0}
    assert read_file(path).values == wanted, "in force before anything is written"
    assert forward(path) is None
    now = path.read_text()
    assert read_file(path).values == wanted and not read_file(path).problems
    assert "# mine" in now and "draft = 5" not in now and now.startswith("schema = 3")
    assert (tmp_path / "settings.toml.schema-1.backup").read_text() == OLD
    assert forward(path) is None and path.read_text() == now, "once is enough"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.usefixtures("two_steps")
def test_from_the_schema_between(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("schema = 2\n[optimizations]\ndrafts = 4\n")
    assert forward(path) is None
    assert read_file(path).values == {"optimizations.draft_steps": 4}
    assert path.read_text().startswith("schema = 3\n")


@pytest.mark.usefixtures("two_steps")
def test_a_file_that_cannot_be_written_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(OLD)
    monkeypatch.setattr("os.access", lambda *words: False)
    problem = forward(path)
    assert "could not be brought forward" in str(problem) and path.read_text() == OLD
    forward(path)
    assert len(list(tmp_path.iterdir())) == 2, "one copy is enough"
    assert read_file(path).values["optimizations.draft_steps"] == 5


@pytest.mark.usefixtures("two_steps")
def test_a_new_file_says_its_schema_and_sets_nothing(tmp_path: Path) -> None:
    assert "\nschema = 3" in template()
    assert parse(tmp_path, template()).values == {} and not parse(tmp_path, template()).problems


def test_a_newer_file_is_refused_by_name_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    text = "schema = 7\n[optimizations]\nmtp = false\nwarp = 9\n"
    path.write_text(text)
    (problem,) = read_file(path).problems
    assert "newer spark-chat (schema 7; this one knows 1)" in str(problem) and str(path) in str(problem)
    with pytest.raises(SettingsError):
        save(path, {"ui.theme": "spark-light"})
    assert forward(path) is None and path.read_text() == text and list(tmp_path.iterdir()) == [path]


@given(st.one_of(st.text(max_size=5), st.booleans(), st.integers(max_value=0), st.floats(allow_nan=False)))
def test_what_is_no_schema_is_said(value: object) -> None:
    import tomli_w

    found = parse(Path("settings.toml"), tomli_w.dumps({"schema": value}))
    assert len(found.problems) == 1 and "take the line out" in str(found.problems[0])
