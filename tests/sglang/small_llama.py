"""A Llama of 2 MB that says known words: attention and MLP add nothing, and the head reads each token's code.

For the real engine on a CPU: with the tokenizer of the oracle, every answer is known word for word.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from tests.gpu import oracle_tokenizer
from tests.gpu.oracle_codes import hadamard
from tests.gpu.oracle_text import FIRST_WORD, word

HIDDEN, VOCABULARY, CYCLE = 256, 1024, 96
EOS = VOCABULARY - 1


def after(token: int) -> int:
    """The token that the model says after `token`."""
    return FIRST_WORD + (token + 1) % CYCLE


def text(last_prompt_token: int, count: int) -> str:
    words, token = [], last_prompt_token
    for _ in range(count):
        token = after(token)
        words.append(word(token))
    return " ".join(words)


def write(folder: Path, tied: bool = False) -> None:
    """config.json, model.safetensors and a tokenizer."""
    torch.manual_seed(0)
    codes = hadamard(HIDDEN)
    row = torch.arange(VOCABULARY) % CYCLE
    embedding = codes[row]
    head = torch.zeros(VOCABULARY, HIDDEN)
    for token in range(CYCLE):
        head[after(token)] = codes[token] * 0.5
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": 256,
        "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": VOCABULARY,
        "max_position_embeddings": 1024, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
        "tie_word_embeddings": tied, "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": EOS,
    }  # fmt: skip
    layer, ones, square = "model.layers.0.", torch.ones(HIDDEN), torch.randn(HIDDEN, HIDDEN) * 0.02
    tensors = {
        "model.embed_tokens.weight": embedding, "model.norm.weight": ones, "lm_head.weight": head,
        layer + "input_layernorm.weight": ones, layer + "post_attention_layernorm.weight": ones,
        layer + "self_attn.q_proj.weight": square, layer + "self_attn.k_proj.weight": square,
        layer + "self_attn.v_proj.weight": square, layer + "self_attn.o_proj.weight": torch.zeros(HIDDEN, HIDDEN),
        layer + "mlp.gate_proj.weight": square, layer + "mlp.up_proj.weight": square,
        layer + "mlp.down_proj.weight": torch.zeros(HIDDEN, HIDDEN),
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.to(torch.bfloat16).clone() for name, tensor in tensors.items()},
              folder / "model.safetensors", metadata={"format": "pt"})  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    oracle_tokenizer.write(folder, VOCABULARY, EOS)
