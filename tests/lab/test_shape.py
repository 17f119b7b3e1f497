"""What a token reads, and what the bandwidth allows: Ling-3.0-flash's shape, a dense model, a GGUF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_chat.lab.bandwidth import GB10_GB_S, Bandwidth, bandwidth
from spark_chat.lab.limit import limit
from spark_chat.lab.shape import UnknownShape, of_config, of_tensors
from spark_chat.machine import Gpu, Machine
from tests.fakes import MACHINE

pytestmark = pytest.mark.usefixtures("home")

LING: dict[str, Any] = {
    "model_type": "bailing_hybrid", "vocab_size": 157_184, "hidden_size": 2_560, "intermediate_size": 6_144,
    "num_hidden_layers": 42, "layer_group_size": 6, "num_attention_heads": 32, "head_dim": 128, "q_lora_rank": 1_536,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "first_k_dense_replace": 2,
    "num_experts": 512, "num_experts_per_tok": 8, "num_shared_experts": 1, "moe_intermediate_size": 768,
    "moe_shared_expert_intermediate_size": 768, "tie_word_embeddings": False, "num_nextn_predict_layers": 1,
    "quantization_config": {"quant_method": "fp8", "routed_experts_quant_method": "mxfp4"},
}  # fmt: skip
"""Ling-3.0-flash: 124 B weights of which 5.1 B work on a token. Widths that aren't published are chosen to fit."""


def test_lings_weights() -> None:
    shape = of_config(LING)
    assert shape.weights == pytest.approx(124e9, rel=0.005)
    assert shape.active == pytest.approx(5.1e9, rel=0.005)
    head = next(part for part in shape.parts if part.name == "output layer")
    assert head.weights == 157_184 * 2_560 and head.bytes_read() == pytest.approx(805e6, rel=0.001)
    assert sum(part.weights * part.width for part in shape.parts) / 1e9 == pytest.approx(68.7, abs=0.2)


def test_lings_bytes_by_hand() -> None:
    """35 KDA layers of 6 projections, 7 MLA, 2 dense MLPs, 40 x (8 MXFP4 + 1 FP8 expert + FP32 router), BF16 head."""
    kda = 35 * 6 * 2_560 * 4_096
    mla = 7 * (2_560 * 1_536 + 1_536 * 32 * 192 + 2_560 * 576 + 512 * 32 * 256 + 4_096 * 2_560)
    dense, expert = 2 * 3 * 2_560 * 6_144, 3 * 2_560 * 768
    moe = 40 * (8 * expert * 0.53125 + expert + 512 * 2_560 * 4)
    head = 157_184 * 2_560
    assert of_config(LING).bytes_per_step() == pytest.approx(kda + mla + dense + moe + 2 * head)
    assert of_config(LING, "fp8").bytes_per_step() == pytest.approx(kda + mla + dense + moe + head)


def test_lings_limit_on_a_spark() -> None:
    """4.76 GB a token at 273 GB/s: 57 tok/s, of which the published baseline of 37.8 reaches two thirds."""
    found = limit(of_config(LING), Bandwidth(GB10_GB_S, "published"), [
        {"name": "baseline", "decode_tok_s": {"median": 37.8}, "accept_length": None},
        {"name": "+ MTP", "decode_tok_s": {"median": 53.9}, "accept_length": {"median": 2.68}},
    ])  # fmt: skip
    assert found["tok_s"] == pytest.approx(57.4, abs=0.1)
    plain, drafting = found["reached"]
    assert plain["share"] == pytest.approx(37.8 / 57.4, rel=0.01) and plain["speculation"] is None
    assert drafting["steps_s"] == pytest.approx(53.9 / 2.68) and drafting["speculation"] == 2.68


def test_a_verify_step_reads_more_experts() -> None:
    """Four tokens pick 31.3 of 512 experts instead of 8: 1.67 plain steps with the FP8 head."""
    shape = of_config(LING, "fp8")
    assert shape.bytes_per_step(4) / shape.bytes_per_step() == pytest.approx(1.67, abs=0.005)
    experts = next(part for part in shape.parts if part.name == "routed experts")
    assert experts.bytes_read(4) / experts.bytes_read() == pytest.approx(31.26 / 8, rel=0.001)
    assert experts.bytes_read(10_000) == pytest.approx(experts.weights * experts.width)


def test_the_cache_counts_with_the_context() -> None:
    shape = of_config(LING)
    assert shape.cache_bytes_per_token == 7 * (512 + 64) * 2
    assert shape.bytes_per_step(1, 1_000) - shape.bytes_per_step() == pytest.approx(7 * 576 * 2 * 1_000)


def test_a_dense_model_with_a_tied_head() -> None:
    config = {
        "hidden_size": 576, "num_hidden_layers": 30, "vocab_size": 49_152, "intermediate_size": 1_536,
        "num_attention_heads": 9, "num_key_value_heads": 3, "tie_word_embeddings": True,
    }  # fmt: skip
    shape = of_config(config)  # SmolLM2-135M
    assert shape.weights == shape.active == pytest.approx(134.5e6, rel=0.001)
    assert shape.bytes_per_step() == shape.weights * 2


@pytest.mark.parametrize("key", ["hidden_size", "vocab_size", "num_experts_per_tok"])
def test_a_config_that_says_too_little(key: str) -> None:
    config = {name: value for name, value in LING.items() if name != key}
    if key == "num_experts_per_tok":
        assert of_config(config).active < of_config(LING).active
    else:
        with pytest.raises(UnknownShape, match=key):
            of_config(config)


def test_a_gguf_by_its_tensors() -> None:
    metadata = {
        "general.architecture": "moe", "moe.block_count": 3, "moe.nextn_predict_layers": 1, "moe.expert_count": 8,
        "moe.expert_used_count": 2,
    }  # fmt: skip
    tensors = [
        ("token_embd.weight", 1_000, 2_000), ("output.weight", 1_000, 1_000), ("blk.0.attn_q.weight", 100, 50),
        ("blk.1.ffn_up_exps.weight", 800, 400), ("blk.2.attn_q.weight", 100, 50),
    ]  # fmt: skip
    shape = of_tensors(tensors, metadata, tied=False)
    assert shape.bytes_per_step() == pytest.approx(1_000 + 50 + 400 * 2 / 8)
    assert of_tensors(tensors[:1], metadata, tied=True).bytes_per_step() == 2_000


def test_where_the_bandwidth_is_from() -> None:
    spark = Machine("aarch64", "Grace", 20, 121 << 30, Gpu("NVIDIA GB10", (12, 1)), True)
    assert bandwidth(spark) == Bandwidth(273.0, "published for a GB10")
    assert bandwidth(spark, given=250.0) == Bandwidth(250.0, "as given")
    measured = bandwidth(MACHINE)
    assert measured is not None and 0.5 < measured.gb_s < 2_000 and "measured" in measured.source


def test_the_best_copy_that_was_seen_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = iter((20e9, 11e9, 25e9, 5e9))
    monkeypatch.setattr("spark_chat.lab.bandwidth._copy", lambda threads: next(speeds))
    found = [bandwidth(MACHINE, threads) for threads in (1, 1, 1, 2)]
    assert [item.gb_s for item in found if item] == [20.0, 20.0, 25.0, 5.0], "another number of threads is another"
    kept = home / "cache" / "spark-chat" / "bandwidth.json"
    kept.write_text("[]")
    monkeypatch.setattr("spark_chat.lab.bandwidth._copy", lambda threads: 7e9)
    again = bandwidth(MACHINE)
    assert again is not None and again.gb_s == 7.0, "what is broken is made anew"
