"""Settings, machine and model -> recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_chat.engine.table import ENGINES
from spark_chat.machine import Gpu, Machine
from spark_chat.recipe import choose as choosing
from spark_chat.recipe import profile as profiles
from spark_chat.recipe.build import build
from spark_chat.recipe.choose import choose, sglang_obstacle
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.recipe.profile import Profile
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings

CPU = Machine(architecture="x86_64", cpu="A CPU", cores=2, memory_bytes=2**33, gpu=None, spark=False)
SPARK = replace(CPU, architecture="aarch64", gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True)
GGUF = ModelRef("small", "/models/small.gguf")


@pytest.fixture
def folder(tmp_path: Path) -> ModelRef:
    return ModelRef("Ling", str(tmp_path))


@pytest.fixture
def with_sglang(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where SGLang is installed."""
    monkeypatch.setattr(choosing, "installed", lambda package: True)


def engine(**values: Any) -> Settings:
    settings = Settings()
    return replace(settings, engine=replace(settings.engine, **values))


def test_a_gguf_always_goes_to_llama_cpp(with_sglang: None) -> None:
    assert choose("auto", GGUF, SPARK).engine == "llama.cpp"
    assert choose("auto", replace(GGUF, path="/models/SMALL.GGUF"), SPARK).engine == "llama.cpp"
    assert choose("llama.cpp", GGUF, CPU).note == ""


def test_auto_takes_sglang_where_it_can_run(with_sglang: None, folder: ModelRef) -> None:
    choice = choose("auto", folder, SPARK)
    assert choice.engine == "sglang" and "auto chose SGLang" in choice.note


@pytest.mark.parametrize(
    ("kind", "machine", "said"),
    [("auto", CPU, "no NVIDIA GPU was found"), ("sglang", CPU, "no NVIDIA GPU was found"),
     ("llama.cpp", SPARK, r"llama\.cpp runs \.gguf files")],
)  # fmt: skip
def test_a_folder_that_cant_run_is_a_sentence(
    with_sglang: None, folder: ModelRef, kind: str, machine: Machine, said: str
) -> None:
    with pytest.raises(RecipeProblem, match=said) as caught:
        choose(kind, folder, machine)
    assert caught.value.remedy and caught.value.key.startswith("engine.")


def test_sglang_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, folder: ModelRef) -> None:
    monkeypatch.setattr(choosing, "installed", lambda package: False)
    assert "not installed" in (sglang_obstacle(SPARK) or "")
    with pytest.raises(RecipeProblem, match="not installed"):
        choose("sglang", folder, SPARK)


def test_sglang_is_not_given_a_gguf(with_sglang: None) -> None:
    with pytest.raises(RecipeProblem, match=r"is a \.gguf file"):
        choose("sglang", GGUF, SPARK)


def test_installed_looks_without_importing() -> None:
    assert choosing.installed("json") and not choosing.installed("no_such_package_here")
    assert not choosing.installed("no_such_package_here.inside")


def test_the_recipe_on_a_machine_without_a_gpu() -> None:
    recipe = build(engine(context=512, args={"n_batch": 64}), CPU, GGUF)
    assert (recipe.engine, recipe.context, recipe.args, recipe.linger_s) == ("llama.cpp", 512, {"n_batch": 64}, 0)
    assert recipe.requested == {"humming": True, "fp8_head": True, "mtp": True}
    assert set(recipe.unavailable) == {"humming", "fp8_head"}
    assert recipe.load().optimizations == {"humming": False, "fp8_head": False, "mtp": True}
    assert recipe.environment == {}
    assert "the model is a .gguf file" in recipe.notes[0]


def test_a_note_on_the_model_stands_for_the_engines() -> None:
    assert build(Settings(), CPU, GGUF, ("No GPU.",)).notes == ("No GPU.",)


@pytest.mark.parametrize(("said", "linger"), [(None, 600), (0, 0), (5, 5)])
def test_linger_is_the_profiles_where_it_is_left_out(
    with_sglang: None, folder: ModelRef, monkeypatch: pytest.MonkeyPatch, said: int | None, linger: int
) -> None:
    monkeypatch.setattr("spark_chat.recipe.build.profile", lambda *_: Profile(linger_s=600))
    assert build(engine(linger_s=said), SPARK, folder).linger_s == linger


def test_who_wins_among_arguments(with_sglang: None, folder: ModelRef, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Profile(
        args={"page_size": 64, "moe_runner_backend": "auto", "speculative_num_steps": 9},
        environment={"HUMMING_COMPILER": "nvrtc"}, unavailable={"fp8_head": "the head is tied to the embedding"},
    )  # fmt: skip
    monkeypatch.setattr("spark_chat.recipe.build.profile", lambda *_: made)
    recipe = build(engine(args={"page_size": 1, "speculative_num_steps": 5}), SPARK, folder)
    assert recipe.args["page_size"] == 1, "a person's own argument wins"
    assert recipe.args["speculative_num_steps"] == 5
    assert recipe.args["moe_runner_backend"] == "humming", "the optimization's over the profile's"
    assert "enable_fp32_lm_head" not in recipe.args, "one that can't run sets nothing"
    assert recipe.environment["SGLANG_ENABLE_FP8_LM_HEAD"] == "0", "but off is said"
    assert recipe.unavailable["fp8_head"] == "the head is tied to the embedding"


def test_the_engine_is_told_how_far_to_draft() -> None:
    settings = replace(Settings(), optimizations=replace(Settings().optimizations, draft_steps="auto"))
    assert profiles.profile("llama.cpp", settings, CPU, GGUF).options == {"draft_steps": "auto"}


def test_every_engine_of_a_recipe_is_one_that_there_is() -> None:
    assert set(profiles.PROFILES) == set(ENGINES) == {choosing.LLAMA, choosing.SGLANG}
