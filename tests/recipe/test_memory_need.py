"""The estimate of memory, against figures worked out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.machine import Gpu
from spark_chat.recipe import memory_need
from spark_chat.recipe.memory_need import GIB, Need, Shape
from spark_chat.recipe.need import need
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests.fakes import MACHINE

LING = {
    "num_hidden_layers": 42, "layer_group_size": 6, "hidden_size": 2560, "num_attention_heads": 32, "head_dim": 128,
    "kv_lora_rank": 512, "qk_rope_head_dim": 64, "vocab_size": 157184, "max_position_embeddings": 262144,
    "num_experts_per_tok": 8, "moe_intermediate_size": 768, "num_nextn_predict_layers": 1,
}  # fmt: skip
ARGS = {"max_mamba_cache_size": 64, "mem_fraction_static": 0.68, "chunked_prefill_size": 8192}
WEIGHTS = 65_100_000_000


def ling(**options: object) -> Need:
    return memory_need.sglang(memory_need.shape(LING), WEIGHTS, 2_800_000_000, 121 * GIB, ARGS, 0, **options)  # type: ignore[arg-type]


def sizes(found: Need) -> dict[str, int]:
    return {part.name: part.size for part in found.parts}


def test_the_parts_of_a_hybrid_model() -> None:
    shape = memory_need.shape(LING)
    assert (shape.attention_layers, shape.state_layers) == (7, 35)
    assert shape.token_bytes == (7 + 1) * 576 * 2
    assert shape.state_bytes == 35 * (32 * 128 * 128 * 4 + 3 * 32 * 128 * 3 * 2)
    plain, drafting = sizes(ling()), sizes(ling(mtp=True))
    assert plain["KV cache"] == 262144 * 7 * 576 * 2 and drafting["KV cache"] == 262144 * 8 * 576 * 2
    assert plain["state cache"] == 64 * shape.state_bytes
    assert drafting["graphs"] == 2 * plain["graphs"]
    assert plain["weights"] - sizes(ling(fp8_head=True))["weights"] == 157184 * 2560


def test_on_a_spark_it_is_what_a_start_should_find_free() -> None:
    """The published rule of thumb for this model there is 85 GiB."""
    assert 82 * GIB < ling(fp8_head=True, mtp=True).total < 92 * GIB
    assert sizes(ling())["pool"] > 0


@given(st.integers(0, 200), st.integers(0, 300_000), st.booleans(), st.booleans())
def test_more_context_never_needs_less(layers: int, context: int, head: bool, mtp: bool) -> None:
    shape = replace(memory_need.shape(LING), layers=layers, context=1000)

    def total(tokens: int) -> int:
        return memory_need.sglang(shape, WEIGHTS, 0, 80 * GIB, {}, tokens, fp8_head=head, mtp=mtp).running

    assert total(context + 1) <= total(context + 2) and total(context + 1) > 0


def test_a_config_with_nothing_in_it_is_no_fault() -> None:
    assert memory_need.shape({"layer_group_size": "x", "num_hidden_layers": True}) == Shape()
    assert memory_need.sglang(Shape(), 1000, 1000, GIB, {}, 0).total > 1000
    assert memory_need.llama(GIB, 1024, 4096).running - memory_need.llama(GIB).running == 4096 * 1024


def test_it_is_fed_from_the_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LING))
    for name in ("a.safetensors", "b.safetensors", "pytorch_model.bin"):
        (tmp_path / name).write_bytes(bytes(1000))
    machine = replace(MACHINE, gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True)
    recipe = Recipe("sglang", ModelRef("M", str(tmp_path)), 0, {"mtp": True, "fp8_head": True}, {"fp8_head": "no"},
                    args=ARGS)  # fmt: skip
    found = need(recipe, machine)
    assert found is not None and sizes(found)["weights"] == 2000, "the same once more is not counted"
    (tmp_path / "config.json").write_text("[]")
    assert need(recipe, machine) is None
    gguf = tmp_path / "m.gguf"
    gguf.write_bytes(bytes(5000))
    small = need(replace(recipe, engine="llama.cpp", model=ModelRef("m", str(gguf))), MACHINE)
    assert small is not None and sizes(small)["weights"] == 5000
