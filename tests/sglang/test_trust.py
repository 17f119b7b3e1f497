"""A model's own code runs only after a yes that names exactly this revision of it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from spark_chat.engine import sglang_args, sglang_request
from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.prewarm import Prewarm
from spark_chat.engine.protocol import Load
from spark_chat.engine.sglang import SglangEngine


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A checkpoint's folder with code of its own."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "modeling_own.py").write_text("print('mine')\n")
    return tmp_path


@pytest.mark.parametrize("said", [None, False])
def test_without_a_yes_nothing_of_it_runs(model: Path, said: Any) -> None:
    assert sglang_request.trusted(model, said) is False


@pytest.mark.parametrize("said", [True, "sha256:0", "yes"])
def test_a_yes_to_anything_is_refused_and_says_how(model: Path, said: Any) -> None:
    with pytest.raises(EngineFailure) as caught:
        sglang_request.trusted(model, said)
    assert sglang_request.revision(model) in caught.value.remedy


def test_a_yes_ends_with_the_code_that_it_was_given_to(model: Path) -> None:
    yes = sglang_request.revision(model)
    assert sglang_request.trusted(model, yes) is True
    (model / "modeling_own.py").write_text("print('yours')\n")
    with pytest.raises(EngineFailure):
        sglang_request.trusted(model, yes)


def test_a_model_without_code_needs_no_yes(tmp_path: Path) -> None:
    assert sglang_request.trusted(tmp_path, True) is False


def test_a_model_that_can_not_do_without_its_code_names_the_setting(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, Any]] = []

    def refuses(**args: Any) -> None:
        given.append(args)
        raise ValueError("Please pass the argument `trust_remote_code=True` to allow custom code to be run.")

    module = ModuleType("sglang.srt.entrypoints.engine")
    monkeypatch.setattr(module, "Engine", refuses, raising=False)
    for name in ("sglang", "sglang.srt", "sglang.srt.entrypoints"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(sglang_args, "check", lambda _args: None)
    command = Load(engine="sglang", model=str(model), context=0, optimizations={}, options={}, args={})
    with pytest.raises(EngineFailure) as caught:
        SglangEngine()._build(command, model, lambda *_: None, Prewarm([]))
    assert given[0]["trust_remote_code"] is False
    assert sglang_request.revision(model) in caught.value.remedy
