"""How many weights a model has, how many of them one token uses, and the bytes that it must read of them.

From a checkpoint's config.json, by the shapes of its layers (H hidden size, V vocabulary, E experts of which K work on
a token, S shared ones, W expert width):

- attention, one of
  - grouped: q and output H x heads x d, k and v H x kv_heads x d
  - latent (MLA): q through q_lora_rank, k and v through kv_lora_rank + the rotary part, output heads x v_dim x H
  - linear (KDA of Ling 3.0): q, k, v, f, g and output, each H x heads x d; every layer_group_size-th layer is MLA
- MLP: dense 3 x H x I in the first layers, else router E x H, and 3 x H x W for each expert
- output layer V x H, read whole for each token; the embedding is V x H more where it is not tied, and of it one row is
  read, which is nothing

Norms, biases, gates of one row a head, convolutions and the multi-token-prediction layer are left out: together under
1 % of what a plain step reads. So is the state of linear attention, layers x heads x d x d in FP32: of Ling-3.0-flash
73 MB, 1.7 %, which a step reads and writes once more. The limit is the more generous by so much. One token of a plain
step reads each weight that it uses once, at its width in bytes: MXFP4 0.53125 (a scale of one byte for 32 values), FP8
1 (its scales for blocks of 128 x 128 are a ten-thousandth), BF16 2, FP32 4.

A verify step of n tokens reads everything once for all of them, but each token picks experts of its own: were they
picked evenly, n tokens would read E (1 - (1 - K/E)^n) of the E experts of a layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MXFP4 = 0.5 + 1 / 32
WIDTHS = {"mxfp4": MXFP4, "fp8": 1.0, "bf16": 2.0, "fp16": 2.0, "fp32": 4.0}


class UnknownShape(Exception):
    """What the config does not say, in a sentence."""


@dataclass(frozen=True)
class Part:
    """`weights` in all, of which a token uses `active`, at `width` bytes each."""

    name: str
    weights: int
    active: int
    width: float

    def bytes_read(self, tokens: int = 1) -> float:
        """By one step of so many tokens."""
        unread = (1 - self.active / self.weights) ** tokens if self.active else 1.0
        return self.weights * (1 - unread) * self.width


@dataclass(frozen=True)
class Shape:
    """All parts of a model."""

    parts: tuple[Part, ...]
    cache_bytes_per_token: float = 0.0
    """KV cache that one token of context takes, over the layers that keep one; a step reads it for all of them."""

    @property
    def weights(self) -> int:
        return sum(part.weights for part in self.parts)

    @property
    def active(self) -> int:
        """Weights that one token uses, the row of the embedding not counted."""
        return sum(part.active for part in self.parts)

    def bytes_per_step(self, tokens: int = 1, context: int = 0) -> float:
        """That one step must read for `tokens` at once (1: a plain step), with `context` tokens before them."""
        return sum(part.bytes_read(tokens) for part in self.parts) + self.cache_bytes_per_token * context


def of_tensors(tensors: Iterable[tuple[str, int, int]], metadata: Mapping[str, Any], tied: bool) -> Shape:
    """From a GGUF's tensors, as (name, elements, bytes), and its metadata. The embedding is read row by row unless it
    is the output layer too; of the experts those that work on a token; a multi-token-prediction block not at all."""
    architecture = str(metadata.get("general.architecture", ""))

    def of(key: str) -> int:
        value = metadata.get(f"{architecture}.{key}")
        return value if isinstance(value, int) else 0

    count, used = of("expert_count"), of("expert_used_count")
    last = of("block_count") - of("nextn_predict_layers")
    parts = []
    for name, elements, size in tensors:
        width = size / elements if elements else 0.0
        block = re.match(r"blk\.(\d+)\.", name)
        if (block and last > 0 and int(block[1]) >= last) or (name == "token_embd.weight" and not tied):
            parts.append(Part(name, elements, 0, width))
        elif "_exps." in name and count and used:
            parts.append(Part(name, elements, elements * used // count, width))
        else:
            parts.append(Part(name, elements, elements, width))
    return Shape(tuple(part for part in parts if part.weights))


def of_config(config: Mapping[str, Any], head: str = "bf16") -> Shape:
    """From a checkpoint's config.json. `head`: what the output layer is kept in. Raises UnknownShape."""
    text = config.get("text_config")
    found: Mapping[str, Any] = {**config, **text} if isinstance(text, Mapping) else config
    quantization = found.get("quantization_config") or {}
    body = {"fp8": "fp8", "mxfp4": "mxfp4"}.get(str(quantization.get("quant_method") or ""), "bf16")
    experts = "mxfp4" if quantization.get("routed_experts_quant_method") == "mxfp4" else body
    hidden, layers, vocabulary = (_whole(found, key) for key in ("hidden_size", "num_hidden_layers", "vocab_size"))
    moe_layers, dense_layers = _mlp_layers(found, layers)
    linear, latent, grouped = _attention_layers(found, layers)
    parts = [
        Part("attention", *_both(linear * _linear(found, hidden)), WIDTHS[body]),
        Part("attention", *_both(latent * _latent(found, hidden)), WIDTHS[body]),
        Part("attention", *_both(grouped * _grouped(found, hidden)), WIDTHS[body]),
    ]
    if dense_layers:
        parts.append(Part("dense MLP", *_both(dense_layers * 3 * hidden * _whole(found, "intermediate_size")),
                          WIDTHS[body]))  # fmt: skip
    if moe_layers:
        parts += _experts(found, moe_layers, hidden, WIDTHS[experts], WIDTHS[body])
    tied = bool(found.get("tie_word_embeddings", False))
    parts.append(Part("output layer", vocabulary * hidden, vocabulary * hidden, WIDTHS[head]))
    parts.append(Part("embedding", 0 if tied else vocabulary * hidden, 0, WIDTHS["bf16"]))
    return Shape(tuple(part for part in parts if part.weights), _cache(found, hidden, latent, grouped))


def _both(weights: int) -> tuple[int, int]:
    """Weights that every token uses."""
    return weights, weights


def _mlp_layers(found: Mapping[str, Any], layers: int) -> tuple[int, int]:
    """(with a mixture of experts, dense)."""
    if _experts_in(found) <= 1:
        return 0, layers
    dense = min(layers, int(found.get("first_k_dense_replace") or 0))
    return layers - dense, dense


def _experts_in(found: Mapping[str, Any]) -> int:
    return int(next((found[key] for key in ("num_experts", "n_routed_experts", "num_local_experts") if found.get(key)),
                    0))  # fmt: skip


def _attention_layers(found: Mapping[str, Any], layers: int) -> tuple[int, int, int]:
    """(linear, latent, grouped)."""
    group = int(found.get("layer_group_size") or 0)
    if found.get("model_type") == "bailing_hybrid" and group > 1:
        return layers - layers // group, layers // group, 0
    return (0, layers, 0) if found.get("kv_lora_rank") else (0, 0, layers)


def _linear(found: Mapping[str, Any], hidden: int) -> int:
    return 6 * hidden * _whole(found, "num_attention_heads") * int(found.get("head_dim") or 128)


def _latent(found: Mapping[str, Any], hidden: int) -> int:
    if not found.get("kv_lora_rank"):
        return 0
    heads, latent, rope = (_whole(found, key) for key in ("num_attention_heads", "kv_lora_rank", "qk_rope_head_dim"))
    plain, value = _whole(found, "qk_nope_head_dim"), _whole(found, "v_head_dim")
    rank = int(found.get("q_lora_rank") or 0)
    queries = hidden * rank + rank * heads * (plain + rope) if rank else hidden * heads * (plain + rope)
    return queries + hidden * (latent + rope) + latent * heads * (plain + value) + heads * value * hidden


def _grouped(found: Mapping[str, Any], hidden: int) -> int:
    heads = _whole(found, "num_attention_heads")
    kv = int(found.get("num_key_value_heads") or heads)
    size = int(found.get("head_dim") or hidden // heads)
    return 2 * hidden * heads * size + 2 * hidden * kv * size


def _experts(found: Mapping[str, Any], layers: int, hidden: int, width: float, body: float) -> list[Part]:
    count, used = _experts_in(found), int(found.get("num_experts_per_tok") or 1)
    size = 3 * hidden * int(found.get("moe_intermediate_size") or _whole(found, "intermediate_size"))
    shared = int(found.get("num_shared_experts") or found.get("n_shared_experts") or 0)
    shared_size = 3 * hidden * int(found.get("moe_shared_expert_intermediate_size") or size // (3 * hidden))
    # A router is kept in 32 bits where the others are quantised: which expert works must not be rounded away.
    router = WIDTHS["fp32"] if width < WIDTHS["bf16"] else body
    return [
        Part("routed experts", layers * count * size, layers * used * size, width),
        Part("shared experts", *_both(layers * shared * shared_size), body),
        Part("router", *_both(layers * count * hidden), router),
    ]


def _cache(found: Mapping[str, Any], hidden: int, latent: int, grouped: int) -> float:
    """KV cache of one token in BF16: latent layers keep one vector, grouped ones keys and values."""
    total = 0.0
    if latent:
        total += latent * (_whole(found, "kv_lora_rank") + _whole(found, "qk_rope_head_dim")) * WIDTHS["bf16"]
    if grouped:
        heads = _whole(found, "num_attention_heads")
        size = int(found.get("head_dim") or hidden // heads)
        total += grouped * 2 * int(found.get("num_key_value_heads") or heads) * size * WIDTHS["bf16"]
    return total


def _whole(found: Mapping[str, Any], key: str) -> int:
    value = found.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise UnknownShape(f"The model's config.json does not say its {key}.")
    return value
