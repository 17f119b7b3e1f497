"""Recipes for SGLang: what each machine and checkpoint gets, and that SGLang takes every field and value of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_chat.machine import Gpu, Machine
from spark_chat.recipe import checkpoint, choose, sglang_profile
from spark_chat.recipe.build import build
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings
from tests.gpu import stage_resolve, stand_in
from tests.sglang import cpu
from tests.sglang.conftest import Script

SPARK = Machine("aarch64", "GB10", 20, 121 * 1024**3, Gpu("NVIDIA GB10", (12, 1)), True)
HOPPER = Machine("x86_64", "CPU", 16, 128 * 1024**3, Gpu("NVIDIA H200", (9, 0)), False)
LING = checkpoint.parsed(stand_in.COMMON | stand_in.SHAPES["full"])


def values(machine: Machine, found: checkpoint.Checkpoint | None) -> dict[str, Any]:
    return sglang_profile.arguments(sglang_profile.lines(machine, found))


def test_every_line_has_a_reason_and_no_name_comes_twice() -> None:
    for machine in (SPARK, HOPPER):
        lines = sglang_profile.lines(machine, LING)
        assert all(line.reason.endswith((".", ";")) for line in lines)
        assert len({line.name for line in lines}) == len(lines)


def test_a_spark_gets_what_its_chip_and_memory_need() -> None:
    found = values(SPARK, LING)
    assert (found["attention_backend"], found["fp8_gemm_runner_backend"]) == ("flashinfer", "cutlass")
    assert found["mem_fraction_static"] == 0.68 and found["page_size"] == 64 and found["cuda_graph_bs_decode"] == [1]


def test_other_chips_get_what_compiles_anywhere() -> None:
    found = values(HOPPER, LING)
    assert (found["attention_backend"], found["fp8_gemm_runner_backend"]) == ("triton", "triton")
    assert "attention_backend" not in values(HOPPER, checkpoint.parsed({"model_type": "llama"}))


def test_the_published_baseline_is_there_for_comparison() -> None:
    found = sglang_profile.baseline(SPARK, LING)
    assert found["moe_runner_backend"] == "flashinfer_mxfp4" and found["enable_fp32_lm_head"] is True
    assert found["speculative_algorithm"] is None


@pytest.mark.parametrize(
    ("config", "reasons"),
    [
        (stand_in.COMMON, set()),
        ({"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "n_routed_experts": 256,
          "num_nextn_predict_layers": 1, "quantization_config": {"quant_method": "fp8"}}, {"humming"}),
        ({"architectures": ["GlmMoeDsaForCausalLM"], "model_type": "glm_moe_dsa", "n_routed_experts": 256,
          "num_nextn_predict_layers": 1, "tie_word_embeddings": False}, {"humming"}),
        ({"architectures": ["MiMoV2FlashForCausalLM"], "model_type": "mimo_v2_flash", "n_routed_experts": 256,
          "num_nextn_predict_layers": 1, "quantization_config": {"quant_method": "fp8", "store_dtype": "mxfp4"}},
         set()),
        ({"architectures": ["NobodysForCausalLM"], "num_local_experts": 8, "num_nextn_predict_layers": 1},
         {"humming", "mtp"}),
        ({"architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
          "text_config": {"mtp_num_hidden_layers": 1, "tie_word_embeddings": True}}, {"humming", "fp8_head"}),
        ({"model_type": "llama", "tie_word_embeddings": True}, {"humming", "fp8_head", "mtp"}),
        ({"model_type": "glm4_moe", "n_routed_experts": 128, "num_nextn_predict_layers": 1}, {"humming"}),
        ({"model_type": "qwen3_5", "text_config": {"num_experts": 64, "mtp_num_hidden_layers": 1}}, {"humming"}),
        ({"model_type": "gpt_oss", "num_local_experts": 32, "quantization_config": {"quant_method": "mxfp4"}},
         {"humming", "mtp"}),
    ],
)  # fmt: skip
def test_other_models_get_a_reason_where_an_optimization_does_not_apply(
    config: dict[str, Any], reasons: set[str]
) -> None:
    full = config if config is not stand_in.COMMON else config | stand_in.SHAPES["full"]
    assert set(sglang_profile.unavailable(checkpoint.parsed(full))) == reasons


def checkpoint_with(folder: Path, config: dict[str, Any], weights: dict[str, str]) -> checkpoint.Checkpoint | None:
    """A folder whose one shard has a header alone: `weights` name -> type."""
    header = json.dumps({name: {"dtype": kind, "shape": [1], "data_offsets": [0, 1]} for name, kind in weights.items()})
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header.encode())
    index = {"weight_map": {name: "model.safetensors" for name in weights}}
    (folder / checkpoint.INDEX).write_text(json.dumps(index))
    (folder / "config.json").write_text(json.dumps(config))
    return checkpoint.read(str(folder))


@pytest.mark.parametrize(("kind", "packed"), [("I8", True), ("F4", True), ("F8_E4M3", False)])
def test_deepseek_v4_has_its_experts_form_in_the_weights_alone(tmp_path: Path, kind: str, packed: bool) -> None:
    config = {"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "n_routed_experts": 8}
    found = checkpoint_with(tmp_path, config, {"layers.3.ffn.experts.0.w1.weight": kind})
    assert found is not None and found.mxfp4_experts is packed


def test_a_draft_that_only_the_weights_name_is_found(tmp_path: Path) -> None:
    config = {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_experts": 512}
    found = checkpoint_with(tmp_path, config, {"model.norm.weight": "BF16", "mtp.norm.weight": "BF16"})
    assert set(sglang_profile.unavailable(found)) == {"humming"}
    found = checkpoint_with(tmp_path, config, {"model.norm.weight": "BF16"})
    assert set(sglang_profile.unavailable(found)) == {"humming", "mtp"}


def test_a_broken_index_is_left_to_the_engine(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "deepseek_v4"}))
    for text in ("", "[]", '{"weight_map": {"a.experts.0.w1.weight": "gone"}}', '{"weight_map": {}}'):
        (tmp_path / checkpoint.INDEX).write_text(text)
        assert checkpoint.read(str(tmp_path)) is not None


def test_a_seed_that_sglang_would_not_heed_is_said(tmp_path: Path) -> None:
    seeded = replace(Settings(), sampling=replace(Settings().sampling, seed=7))
    heeded = replace(seeded, engine=replace(seeded.engine, args={sglang_profile.SEED_HEEDED: True}))
    said = [sglang_profile.profile(each, SPARK, ModelRef("Ling", str(tmp_path))).notes
            for each in (Settings(), seeded, heeded)]  # fmt: skip
    assert said == [(), (sglang_profile.SEED_NOTE,), ()]


def test_sglang_loads_a_draft_of_every_architecture_that_is_said_to_have_one(script: Script) -> None:
    assert script("tests.sglang.plugin_report", "drafted")["unknown"] == []


def recipes(folder: Path) -> dict[str, dict[str, Any]]:
    """The arguments of every kind of recipe there is."""
    (folder / "config.json").write_text(json.dumps(stand_in.COMMON | stand_in.SHAPES["full"]))
    model, found = ModelRef("Ling", str(folder)), {}
    for name, machine in (("spark", SPARK), ("hopper", HOPPER)):
        for on in (True, False):
            for steps in (3, "auto"):
                base = Settings()
                wanted = replace(base.optimizations, humming=on, fp8_head=on, mtp=on, draft_steps=steps)
                kind = replace(base.engine, kind="sglang")
                recipe = build(replace(base, optimizations=wanted, engine=kind), machine, model)
                found[f"{name} {on} {steps}"] = recipe.args
        found[f"{name} baseline"] = sglang_profile.baseline(machine, LING)
    return found


def test_sglang_takes_every_recipe(script: Script, tmp_path: Path, home: Path) -> None:
    given = tmp_path / "recipes.json"
    given.write_text(json.dumps(recipes(tmp_path)))
    assert script("tests.sglang.check_args", str(given))["faults"] == {}


def test_sglangs_own_resolution_is_compared_with_what_was_given(script: Script, tmp_path: Path) -> None:
    """On the CPU only this much of it runs; `python -m tests.gpu.stage_resolve` puts every recipe through it."""
    from tests.sglang import small_llama

    small_llama.write(tmp_path)
    given = {"taken": cpu.ARGS | {"model_path": str(tmp_path)}}
    given["changed"] = given["taken"] | {"sampling_backend": "flashinfer"}
    given["refused"] = given["taken"] | {"max_running_requests": 1, "base_gpu_id": -1}
    given["unknown"] = given["taken"] | {"page_sise": 64}
    (tmp_path / "recipes.json").write_text(json.dumps(given))
    found = script("tests.gpu.stage_resolve", str(tmp_path / "recipes.json"))
    assert found["recipes"]["taken"] == {"otherwise": {}, "error": ""} and not found["right"]
    assert found["recipes"]["changed"]["otherwise"] == {"sampling_backend": ["flashinfer", "pytorch"]}
    assert "base_gpu_id" in found["recipes"]["refused"]["error"]
    assert "page_size" in found["recipes"]["unknown"]["error"]


def test_another_name_for_the_same_is_no_change() -> None:
    resolved = {"speculative_algorithm": "EAGLE", "page_size": 1}
    given = {"speculative_algorithm": "NEXTN", "page_size": 64, "attention_backend": "triton", "dtype": None}
    assert stage_resolve.otherwise(given, resolved) == {"page_size": [64, 1]}


def test_every_toggle_and_the_baseline_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "installed", lambda _package: True)
    stand_in.write(tmp_path)
    found = stage_resolve.recipes(tmp_path, SPARK)
    assert len(found) == 8 + 4 + 1 and all(args["model_path"] == str(tmp_path) for args in found.values())
    assert {args["moe_runner_backend"] for args in found.values()} == {"humming", "flashinfer_mxfp4"}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown field": ({"moe_runer_backend": "humming"}, "moe_runner_backend"),
    "wrong choice": ({"moe_runner_backend": "hummming"}, "humming"),
    "out of range": ({"mem_fraction_static": 7}, "0.98"),
    "wrong type": ({"page_size": "many"}, "int"),
    "ours to decide": ({"skip_tokenizer_init": True}, "tokenizer"),
}


def test_what_sglang_would_swallow_is_refused_by_name(script: Script, tmp_path: Path) -> None:
    given = tmp_path / "wrong.json"
    given.write_text(json.dumps({name: args for name, (args, _) in WRONG.items()}))
    faults = script("tests.sglang.check_args", str(given))["faults"]
    for name, (args, hint) in WRONG.items():
        assert next(iter(args)) in faults[name] and hint in faults[name]
