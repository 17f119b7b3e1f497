"""Which model a start takes: a named one, the best that is here, or the small one to fetch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_chat.driver.library import Library
from spark_chat.driver.models import ASK_FROM, Download, Found
from spark_chat.machine import Gpu
from spark_chat.models import find, small
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE

SPARK = replace(MACHINE, gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True)


def engine(**values: Any) -> Settings:
    settings = Settings()
    return replace(settings, engine=replace(settings.engine, **values))


def a_gguf(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF" + bytes(100))
    return path


@pytest.fixture
def with_sglang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_chat.driver.library.sglang_obstacle", lambda machine: None)


async def test_a_path_is_taken(home: Path) -> None:
    path = a_gguf(home / "mine.gguf")
    assert await Library().look(engine(model=str(path)), MACHINE) == Found(ModelRef("mine", str(path)))


async def test_without_any_model_the_small_one_is_fetched(home: Path) -> None:
    found = await Library().look(Settings(), MACHINE)
    assert isinstance(found, Download) and found.size < ASK_FROM
    assert found.note == "engine.kind = auto chose llama.cpp: no NVIDIA GPU was found."
    named = await Library().look(engine(model=small.SMALL.name), MACHINE)
    assert isinstance(named, Download) and named.note == ""


@pytest.mark.parametrize("named", ["no-such-model", "/no/such/file.gguf"])
async def test_a_model_that_is_not_here_is_a_sentence(home: Path, named: str) -> None:
    with pytest.raises(RecipeProblem, match=named) as caught:
        await Library().look(engine(model=named), MACHINE)
    assert caught.value.key == "engine.model"


async def test_auto_says_why_it_is_llama_cpp(home: Path) -> None:
    a_gguf(home / "cache" / "spark-chat" / "models" / "big.gguf")
    found = await Library().look(Settings(), MACHINE)
    assert isinstance(found, Found) and found.model.name == "big"
    assert found.note == "engine.kind = auto chose llama.cpp: no NVIDIA GPU was found."
    asked = await Library().look(engine(kind="llama.cpp"), MACHINE)
    assert isinstance(asked, Found) and asked.note == ""


async def test_sglang_without_a_gpu_is_refused(home: Path) -> None:
    with pytest.raises(RecipeProblem, match="no NVIDIA GPU was found"):
        await Library().look(engine(kind="sglang"), MACHINE)


async def test_sglang_without_a_checkpoint_says_how_to_get_one(home: Path, with_sglang: None) -> None:
    with pytest.raises(RecipeProblem, match="no checkpoint") as caught:
        await Library().look(engine(kind="sglang"), SPARK)
    assert find.PREFERRED[0] in caught.value.remedy


async def test_auto_takes_a_checkpoint_where_sglang_runs(
    home: Path, with_sglang: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ModelRef("Ling", str(home))
    monkeypatch.setattr(find, "default", lambda checkpoints: folder if checkpoints else None)
    assert await Library().look(Settings(), SPARK) == Found(folder)


async def test_a_fetch_that_fails_keeps_its_way_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(report: Any) -> Path:
        raise small.FetchProblem("There is no network.", "Start again once there is.")

    monkeypatch.setattr(small, "fetch", fails)
    found = await Library().look(Settings(), MACHINE)
    assert isinstance(found, Download)
    with pytest.raises(RecipeProblem) as caught:
        await found.fetch(lambda fraction, text: None)
    assert caught.value.what == "There is no network." and "--model PATH" in caught.value.remedy
