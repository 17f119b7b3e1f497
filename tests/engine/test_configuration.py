"""What makes two engines the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.codec import decode_command, encode
from spark_chat.engine.configuration import differences, identity, program, told
from spark_chat.engine.protocol import Load

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
values = st.none() | st.booleans() | st.integers(-9, 9) | words | st.lists(st.integers(0, 9), max_size=2)
loads = st.builds(
    Load, engine=words, model=words, context=st.integers(0, 9), optimizations=st.dictionaries(words, st.booleans()),
    options=st.dictionaries(words, values, max_size=3), args=st.dictionaries(words, values, max_size=3),
    environment=st.dictionaries(words, words, max_size=3), identity=words, app=words, installed=words, program=words,
    linger_s=st.floats(0, 9),
)  # fmt: skip


@given(loads, loads)
def test_whatever_differs_is_named_and_nothing_else(there: Load, here: Load) -> None:
    deciding = ("engine", "model", "context", "identity", "app", "installed", "optimizations", "options", "environment")
    args = {name: value for name, value in there.args.items() if value is not None} == {
        name: value for name, value in here.args.items() if value is not None
    }
    options = _without_none(there.options) == _without_none(here.options)
    same = args and options and all(
        getattr(there, name) == getattr(here, name) for name in deciding if name not in ("options", "identity")
    ) and (there.identity == here.identity or there.model != here.model)  # fmt: skip
    assert (differences(there, here) == []) == same


def _without_none(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if value is not None}


@given(loads, words, st.floats(0, 9))
def test_who_asks_and_how_long_it_stays_decide_nothing(load: Load, who: str, linger_s: float) -> None:
    other = msgspec.structs.replace(load, program=who, linger_s=linger_s)
    back = decode_command(encode(other)[:-1])
    assert isinstance(back, Load) and differences(load, back) == []


def test_the_models_files_count(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"one")
    first = identity(str(file))
    assert first and identity(str(file)) == first
    (tmp_path / "another").write_bytes(b"two")
    assert identity(str(tmp_path)) != first
    os.utime(file, ns=(1, 1))
    assert identity(str(file)) != first
    assert identity(str(tmp_path / "none")) == ""
    load = Load(engine="e", model=str(file), context=0, optimizations={}, identity=first)
    (changed,) = differences(load, msgspec.structs.replace(load, identity=identity(str(file))))
    assert changed.name == "the model's files"


def test_variables_that_engines_read_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("HOBBY", "chess")
    load = told(Load(engine="e", model="m", context=0, optimizations={}), {"HF_HUB_OFFLINE": "1"}, "worker", 5)
    assert load.environment["CUDA_VISIBLE_DEVICES"] == "1" and load.environment["HF_HUB_OFFLINE"] == "1"
    assert "HOBBY" not in load.environment and load.linger_s == 5 and "worker" in load.installed and load.app


@pytest.mark.parametrize(
    ("words", "named"),
    [(["x", "--model", "m"], "spark-chat"), (["x", "check", "-"], "spark-chat check"), (["x"], "spark-chat")],
)
def test_a_program_is_named_as_a_person_calls_it(words: list[str], named: str) -> None:
    assert program(words) == named
