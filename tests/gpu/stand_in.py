"""A config.json and a tokenizer of Ling-3.0-flash's shape, for SGLang's load_format="dummy": speed without weights.

Known of the real model: 42 layers (every sixth MLA), 512 experts of which 8 work on a token, one shared expert, two
dense layers first, one NEXTN layer, vocabulary 157,184. Hidden size, widths and head counts are assumed: they give
the published 65 GB. The clamp stands on the last seven layers, as published.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.gpu import oracle_tokenizer

VOCABULARY, EOS = 157_184, 156_892
SHAPES: dict[str, dict[str, Any]] = {
    "tiny": {"hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 6, "num_attention_heads": 8,
             "num_key_value_heads": 8, "q_lora_rank": 256, "first_k_dense_replace": 1, "num_experts": 64,
             "moe_intermediate_size": 256, "moe_shared_expert_intermediate_size": 256},
    "full": {"hidden_size": 2560, "intermediate_size": 6144, "num_hidden_layers": 42, "num_attention_heads": 32,
             "num_key_value_heads": 32, "q_lora_rank": 1536, "first_k_dense_replace": 2, "num_experts": 512,
             "moe_intermediate_size": 768, "moe_shared_expert_intermediate_size": 768},
}  # fmt: skip
COMMON: dict[str, Any] = {
    "architectures": ["BailingMoeV3ForCausalLM"], "model_type": "bailing_hybrid", "vocab_size": VOCABULARY,
    "max_position_embeddings": 262144, "rms_norm_eps": 1e-6, "rope_theta": 6000000, "rope_scaling": None,
    "tie_word_embeddings": False, "short_conv_kernel_size": 4, "no_kda_lora": True, "kda_safe_gate": True,
    "kda_lower_bound": -5.0, "gated_attention_proj_granularity_type": "head_wise", "qk_head_dim": 192,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "kv_lora_rank": 512, "rope_interleave": True,
    "use_qk_norm": True, "num_experts_per_tok": 8, "num_shared_experts": 1, "n_group": 8, "topk_group": 4,
    "norm_topk_prob": True, "routed_scaling_factor": 2.5, "moe_router_enable_expert_bias": True,
    "score_function": "sigmoid", "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16", "head_dim": 128,
    "hidden_act": "silu", "use_bias": False, "use_qkv_bias": False, "pad_token_id": EOS, "eos_token_id": EOS,
    "partial_rotary_factor": 0.5, "layer_group_size": 6,
    "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
                            "weight_block_size": [128, 128], "routed_experts_quant_method": "mxfp4"},
}  # fmt: skip


SHAPES["thin"] = SHAPES["full"] | {"num_hidden_layers": 6}
"""The same widths, so the same kernels, in a seventh of the memory."""


def write(folder: Path, shape: str = "full") -> None:
    config = COMMON | SHAPES[shape]
    layers = config["num_hidden_layers"]
    config["expert_swiglu_limit_list"] = [0.0] * (layers - min(7, layers - 1)) + [4.0] * min(7, layers - 1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    header = b"{}"  # a file of weights with none in it: the app takes no checkpoint that has no such file
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    oracle_tokenizer.write(folder, VOCABULARY, EOS)
