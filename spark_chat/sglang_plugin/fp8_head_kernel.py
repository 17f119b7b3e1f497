"""logits[m, v] = scale[v] * sum_k float(weight[v, k]) * x[m, k]: weights e4m3, activations as they come, float32 sums.

Up to 8 rows of activations (a decode or a verify step) the product is bound by reading the weights once, so one
kernel streams them past all rows. Two forms of it: "fma" multiplies elementwise and sums at the end, best for a row
or two; "dot" feeds the tensor cores, whose rows come free. More rows (prefill) go through the "dot" form in blocks.
Configurations are fixed by row count, not tuned at run time: nothing is timed during a start or a graph capture.
Nothing is allocated but the result, nothing synchronises: safe inside CUDA graphs.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

CHECK_ROWS = 1024
"""Vocabulary rows that the check at load multiplies."""

E4M3_MAX = 448.0
_QUANTISE_ROWS = 8192


class Config(NamedTuple):
    """`form` "fma" or "dot"; vocabulary rows and hidden columns a step; warps; pipeline stages."""

    form: str
    rows: int
    columns: int
    warps: int
    stages: int


CONFIGS: dict[int, Config] = {
    1: Config("fma", 16, 512, 4, 3),
    2: Config("fma", 16, 512, 4, 3),
    4: Config("dot", 64, 256, 4, 4),
    8: Config("dot", 64, 256, 4, 4),
    16: Config("dot", 64, 128, 4, 4),
    64: Config("dot", 128, 128, 8, 3),
}
"""By rows of activations, padded up to a key; beyond the last, in blocks of it."""


def quantise(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """[V, H] of any float type -> e4m3 [V, H] and float32 [V], a slice at a time so that no float32 copy exists."""
    quantised = torch.empty(weight.shape, dtype=torch.float8_e4m3fn, device=weight.device)
    scale = torch.empty(weight.shape[0], dtype=torch.float32, device=weight.device)
    for start in range(0, weight.shape[0], _QUANTISE_ROWS):
        part = weight[start : start + _QUANTISE_ROWS].float()
        largest = part.abs().amax(dim=1)
        step = torch.where(largest > 0, largest / E4M3_MAX, torch.ones_like(largest))
        quantised[start : start + _QUANTISE_ROWS] = (
            (part / step[:, None]).clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn)
        )
        scale[start : start + _QUANTISE_ROWS] = step
    return quantised, scale


def quantisation_error(sample: torch.Tensor, quantised: torch.Tensor, scale: torch.Tensor) -> float:
    """Root mean square of what rounding changed, over that of the weights; on the rows of `sample`."""
    rows = sample.shape[0]
    back = quantised[:rows].float() * scale[:rows, None]
    exact = sample.float()
    whole = exact.pow(2).mean().sqrt().item()
    return (back - exact).pow(2).mean().sqrt().item() / whole if whole else 0.0


def reference(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """The same in plain torch, float32, a slice of the vocabulary at a time: the CPU's way, and the check's."""
    flat = x.reshape(-1, x.shape[-1]).float()
    parts = [
        flat @ (weight[start : start + _QUANTISE_ROWS].float() * scale[start : start + _QUANTISE_ROWS, None]).T
        for start in range(0, weight.shape[0], _QUANTISE_ROWS)
    ]
    return torch.cat(parts, dim=1).view(*x.shape[:-1], weight.shape[0])


def padded(rows: int) -> int:
    """The key of CONFIGS for that many rows of activations."""
    return next((key for key in CONFIGS if rows <= key), max(CONFIGS))


def logits(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, config: Config | None = None) -> torch.Tensor:
    """x [..., H] -> float32 [..., V]."""
    if not weight.is_cuda:
        return reference(x, weight, scale)
    from spark_chat.sglang_plugin.fp8_head_triton import launch

    flat = x.reshape(-1, x.shape[-1]).contiguous()
    out = torch.empty(flat.shape[0], weight.shape[0], dtype=torch.float32, device=x.device)
    if flat.shape[0]:
        key = padded(flat.shape[0])
        launch(flat, weight, scale, out, key, config or CONFIGS[key])
    return out.view(*x.shape[:-1], weight.shape[0])


def warm_and_check(weight: torch.Tensor, scale: torch.Tensor, dtype: torch.dtype) -> float:
    """Compiles what decoding needs, before any graph is captured, and compares the first rows of the vocabulary
    with plain torch. Returns the largest difference over the largest logit; raises where it is not rounding."""
    if not weight.is_cuda:
        return 0.0
    generator = torch.Generator(device="cpu").manual_seed(0)
    worst = 0.0
    for rows in CONFIGS:
        x = torch.randn(rows, weight.shape[1], generator=generator).to(device=weight.device, dtype=dtype)
        seen = logits(x, weight, scale)[:, :CHECK_ROWS]
        known = reference(x, weight[:CHECK_ROWS], scale[:CHECK_ROWS])
        largest = max(known.abs().max().item(), 1e-30)
        worst = max(worst, (seen - known).abs().max().item() / largest)
    if not worst < 1e-3:
        raise RuntimeError(f"The FP8 output layer's kernel is off by {worst:.2e} of the largest logit on this GPU.")
    return worst
