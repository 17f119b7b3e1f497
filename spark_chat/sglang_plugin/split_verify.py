"""A verify step of an MLA model reads the prefix with all of the GPU, instead of one program a head.

Why: Triton attention of SGLang 0.5.23 checks drafts with the kernel of a prefill. That goes over the whole prefix one
block after the other, with as many programs as there are heads: 222 us a layer for 4 positions behind 1,100 tokens on
an H200, a fifth of a verify round, where a plain decode step takes 25. The wheel has a kernel that splits the prefix
(`verify_shared_kv_fwd`), turned on for one of AMD's chips only; it is plain Triton.
How: once a Triton backend is made for MLA with drafts in one chain, the kernel is run against plain torch on this GPU;
where it agrees, the backend's own switch is thrown. Smaller blocks than AMD's fit the shared memory of any NVIDIA GPU.
For: SGLang 0.5.23. Can go: once SGLang turns it on for NVIDIA, or FA3, FlashMLA or FlashInfer is what checks drafts.
"""

from __future__ import annotations

import logging
from typing import Any

from spark_chat.sglang_plugin import hooks, switches

TARGET = "sglang.srt.layers.attention.triton_backend.TritonAttnBackend.__init__"
BLOCKS = (4, 32, 4)
"""Heads, tokens of the prefix and warps of a program."""
PREFIXES = (7, 100, 1_500)
"""Tokens of the check's prefixes: less than a block, some splits, and as many splits as there are."""
ROUNDING = 2e-2
"""Of the largest output: partial sums are kept in bf16."""

decision = ""
"""What was done, for the probe."""


def register() -> None:
    """The backend's module is heavy, and only the scheduler needs it: hooked when the first model is made."""
    if switches.split_verify():
        hooks.add("split verify: late", "sglang.srt.model_loader.loader._initialize_model", "before", _late)


def _late(*_args: Any, **_kwargs: Any) -> None:
    hooks.add("split verify", TARGET, "after", _after_init)
    hooks.apply()


def _after_init(_result: Any, backend: Any, model_runner: Any, *_args: Any, **_kwargs: Any) -> None:
    global decision
    if not backend.use_mla or backend.topk != 1 or backend.use_verify_shared_kv or decision.startswith("off"):
        return
    config = model_runner.model_config
    reason = unfit(
        backend.num_head, config.kv_lora_rank, config.qk_rope_head_dim, backend.num_draft_tokens, model_runner.dtype
    )
    backend.use_verify_shared_kv = not reason
    decision = f"off: {reason}" if reason else "on: it agreed with plain torch"
    logging.getLogger(__name__).info("Split verify attention is %s.", decision)


def unfit(heads: int, latent: int, rope: int, drafts: int, dtype: Any, device: str = "cuda") -> str:
    """Why the kernel is not used for these shapes, or "" where it was right on this GPU."""
    from sglang.kernels.ops.attention import verify_mla

    if device == "cuda":
        import torch

        if torch.version.cuda is None:
            return "not an NVIDIA GPU"
    verify_mla._BLOCK_CONFIG[latent + rope] = BLOCKS
    try:
        error = max(difference(heads, latent, rope, drafts, dtype, device, prefix) for prefix in PREFIXES)
    except Exception as trouble:
        return f"{type(trouble).__name__}: {str(trouble)[:200]}"
    return "" if error < ROUNDING else f"it was off by {error:.1e} of the largest output"


def difference(heads: int, latent: int, rope: int, drafts: int, dtype: Any, device: str, prefix: int) -> float:
    """Largest difference from plain torch in float32, over the largest output; NaN counts as infinite."""
    import torch
    from sglang.kernels.ops.attention.verify_mla import verify_shared_kv_fwd

    generator = torch.Generator().manual_seed(0)

    def made(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator).to(device=device, dtype=dtype)

    width = latent + rope
    q, k, buffer = made(drafts, heads, width), made(drafts, 1, width), made(2 * prefix, 1, width)
    places = torch.randperm(2 * prefix, generator=generator)[:prefix].to(device)
    out = torch.empty(drafts, heads, latent, device=device, dtype=dtype)
    taken = verify_shared_kv_fwd(
        q, k, k[..., :latent], out, buffer, buffer[..., :latent], _bounds(drafts, device), _bounds(prefix, device),
        places, None, True, None, drafts, 1.0, 1.0, sm_scale=width**-0.5,
    )  # fmt: skip
    if not taken:
        raise ValueError("the kernel does not take these shapes")
    known = reference(q.float(), torch.cat([buffer[places], k])[:, 0].float(), latent)
    worst = ((out.float() - known).abs().max() / known.abs().max()).item()
    return worst if worst == worst else float("inf")


def reference(q: Any, keys: Any, latent: int) -> Any:
    """q [drafts, heads, width], keys [prefix + drafts, width], which end with the drafts' own -> [drafts, heads,
    latent]: each draft sees the prefix, those before it and itself."""
    import torch

    drafts = q.shape[0]
    scores = torch.einsum("dhw,nw->dhn", q, keys) * q.shape[-1] ** -0.5
    seen = torch.ones(drafts, keys.shape[0], dtype=torch.bool, device=q.device).tril(keys.shape[0] - drafts)
    weights = scores.masked_fill(~seen[:, None], float("-inf")).softmax(-1)
    return torch.einsum("dhn,nl->dhl", weights, keys[:, :latent])


def _bounds(length: int, device: str) -> Any:
    import torch

    return torch.tensor([0, length], dtype=torch.int32, device=device)
