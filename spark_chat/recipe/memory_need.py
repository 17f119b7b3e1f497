"""How much memory a model and its settings need, written out part by part. Pure: figures in, figures out.

An estimate from the checkpoint's own numbers, made to refuse a start that can't go well rather than to be exact: what
it does not know it takes from above. On a machine whose memory is shared with the GPU all of it comes out of one pot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GIB = 1024**3
STATE_BYTES = 4
"""A value of a linear-attention state: float32."""
CACHE_BYTES = 2
"""A value of the KV cache and of the convolution's window: bfloat16."""
CONVOLUTION = 4
"""Width of the short convolution, of which all but one are kept."""
GRAPH_BYTES = GIB
"""For the captured graphs of one model at batch 1, with their private pools. An allowance, not a measurement."""
PROCESS_BYTES = 3 * GIB
"""For CUDA's own context, the libraries and Python in the engine's processes. An allowance, not a measurement."""
LIVE_TENSORS = 12
"""Hidden-sized tensors that are alive at once while a prompt's piece goes through a layer. An allowance."""
GGUF_SPARE = 0.10
"""Of a .gguf's size, for llama.cpp's buffers: an allowance. Its KV cache is counted apart."""


@dataclass(frozen=True)
class Shape:
    """What decides a checkpoint's need beyond the size of its files. Zero: not known. `group`: each so-manieth layer
    has attention with a KV cache and the others a linear-attention state; 1 where all have attention."""

    layers: int = 0
    group: int = 1
    hidden: int = 0
    heads: int = 0
    head_dim: int = 0
    kv_heads: int = 0
    latent: int = 0
    """Values a token and layer of an MLA cache (rank and rotary part); 0 where keys and values are kept by head."""
    vocabulary: int = 0
    context: int = 0
    experts_per_token: int = 0
    expert_width: int = 0
    draft_layers: int = 0

    @property
    def attention_layers(self) -> int:
        return self.layers // self.group if self.group > 1 else self.layers

    @property
    def state_layers(self) -> int:
        return self.layers - self.attention_layers

    @property
    def token_bytes(self) -> int:
        """Bytes of KV cache a token; the draft's own layers count in."""
        values = self.latent or 2 * self.kv_heads * self.head_dim
        return (self.attention_layers + self.draft_layers) * values * CACHE_BYTES

    @property
    def state_bytes(self) -> int:
        """Bytes of one prefix's linear-attention state: a square matrix a head, and the convolution's window."""
        matrix = self.heads * self.head_dim * self.head_dim * STATE_BYTES
        window = 3 * self.heads * self.head_dim * (CONVOLUTION - 1) * CACHE_BYTES
        return self.state_layers * (matrix + window)


@dataclass(frozen=True)
class Part:
    """One use of memory, in bytes, and how it was come by."""

    name: str
    size: int
    how: str


@dataclass(frozen=True)
class Need:
    """`parts` stay while the engine runs; `transient` is there during the load alone, on top of the weights."""

    parts: tuple[Part, ...]
    transient: Part

    @property
    def running(self) -> int:
        """Bytes once it is up."""
        return sum(part.size for part in self.parts)

    @property
    def total(self) -> int:
        """Bytes that it will take: the larger of the load's peak and what stays."""
        return max(self.running, self._peak)

    @property
    def fixed(self) -> tuple[Part, ...]:
        """What can't be smaller; the pool takes what is left over."""
        return tuple(part for part in self.parts if part.name != "pool")

    @property
    def least(self) -> int:
        """Bytes that must be there for a start to go well."""
        return max(sum(part.size for part in self.fixed), self._peak)

    @property
    def weights(self) -> int:
        return self._of("weights")

    @property
    def static(self) -> int:
        """Bytes that SGLang counts against its share of the memory: weights and caches."""
        return self._of("weights", "KV cache", "state cache")

    @property
    def outside(self) -> int:
        """Bytes that are taken before SGLang looks at what is available."""
        return self._of("processes")

    @property
    def _peak(self) -> int:
        return self._of("weights", "processes") + self.transient.size

    def _of(self, *names: str) -> int:
        return sum(part.size for part in self.parts if part.name in names)


def shape(config: Mapping[str, Any]) -> Shape:
    """From a checkpoint's config.json, whole."""
    text = config.get("text_config")
    both: dict[str, Any] = {**config, **text} if isinstance(text, Mapping) else dict(config)

    def number(*keys: str) -> int:
        for key in keys:
            value = both.get(key)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
        return 0

    heads = number("num_attention_heads")
    hidden = number("hidden_size")
    rank = number("kv_lora_rank")
    return Shape(
        layers=number("num_hidden_layers"),
        group=max(1, number("layer_group_size")),
        hidden=hidden,
        heads=heads,
        head_dim=number("head_dim", "v_head_dim") or (hidden // heads if heads else 0),
        kv_heads=number("num_key_value_heads") or heads,
        latent=rank + number("qk_rope_head_dim") if rank else 0,
        vocabulary=number("vocab_size"),
        context=number("max_position_embeddings"),
        experts_per_token=number("num_experts_per_tok"),
        expert_width=number("moe_intermediate_size"),
        draft_layers=number("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"),
    )


def sglang(
    found: Shape, weights: int, largest_file: int, memory: int, args: Mapping[str, Any], context: int,
    fp8_head: bool = False, mtp: bool = False,
) -> Need:  # fmt: skip
    """`weights`, `largest_file`: bytes of the weight files in all, and of the largest. `memory`: bytes of the machine
    (or of the GPU, where it has its own). `args`: SGLang's arguments as they will be. `context`: 0 is the model's."""
    tokens = context or int(args.get("context_length") or 0) or found.context
    head = found.vocabulary * found.hidden
    kept = weights - (head if fp8_head else 0)
    drafts = found.draft_layers if mtp else 0
    cache = tokens * (found.token_bytes if drafts else found.token_bytes * found.attention_layers // max(
        1, found.attention_layers + found.draft_layers))  # fmt: skip
    states = int(args.get("max_mamba_cache_size") or 0) * found.state_bytes
    parts = [
        Part("weights", kept, "the files' bytes" + (", less half of the BF16 head that FP8 saves" if fp8_head else "")),
        Part("KV cache", cache, f"{tokens:,} tokens at {found.token_bytes:,} bytes"),
    ]
    if states:
        how = f"{args['max_mamba_cache_size']} prefixes at {found.state_bytes:,} bytes"
        parts.append(Part("state cache", states, how))
    fraction = float(args.get("mem_fraction_static") or 0.0)
    spare = int(fraction * memory) - sum(part.size for part in parts)
    if spare > 0:
        parts.append(Part("pool", spare, f"SGLang fills its caches up to {fraction:.2f} of the memory"))
    chunk = min(int(args.get("chunked_prefill_size") or 8192), tokens or 8192)
    wide = LIVE_TENSORS * found.hidden + 3 * found.experts_per_token * found.expert_width
    parts += [
        Part("activations", chunk * wide * 2 + 4 * found.vocabulary, f"a prompt's piece of {chunk:,} tokens"),
        Part("graphs", GRAPH_BYTES * (2 if mtp else 1), "an allowance" + (", target and draft" if mtp else "")),
        Part("processes", PROCESS_BYTES, "an allowance for CUDA, libraries and Python"),
    ]
    passing = largest_file + (2 * head if fp8_head else 0)
    return Need(tuple(parts), Part("load", passing, "the largest file while it is read, the head before it is FP8"))


def llama(weights: int, token_bytes: int = 0, context: int = 0) -> Need:
    """A .gguf's: its bytes, llama.cpp's buffers, and the KV cache of `context` tokens at `token_bytes`, 0 where that is
    not known."""
    parts = [
        Part("weights", weights, "the file's bytes"),
        Part("buffers", int(weights * GGUF_SPARE) + GIB // 4, "an allowance"),
    ]
    if token_bytes and context:
        parts.append(Part("KV cache", context * token_bytes, f"{context:,} tokens at {token_bytes:,} bytes"))
    return Need(tuple(parts), Part("load", 0, "the file is mapped, not copied"))
