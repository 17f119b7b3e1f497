"""outputs = clamp(silu(gate), max=L) * clamp(up, -L, L), elementwise; inputs are [..., 2d] with gate first.

One Triton kernel a call, computed in float32, nothing allocated, no synchronisation: safe inside CUDA graphs.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(source, target, width, limit, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < width
    gate = tl.load(source + row * 2 * width + column, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(source + row * 2 * width + width + column, mask=inside, other=0.0).to(tl.float32)
    gate = tl.minimum(gate * tl.sigmoid(gate), limit)
    up = tl.minimum(tl.maximum(up, -limit), limit)
    tl.store(target + row * width + column, (gate * up).to(target.dtype.element_ty), mask=inside)


def reference(inputs: torch.Tensor, limit: float) -> torch.Tensor:
    """The same in plain torch, float32 inside, rounded once."""
    gate, up = inputs.float().chunk(2, dim=-1)
    gate = torch.nn.functional.silu(gate).clamp(max=limit)
    return (gate * up.clamp(min=-limit, max=limit)).to(inputs.dtype)


def clamped_silu_and_mul(inputs: torch.Tensor, outputs: torch.Tensor, limit: float) -> Any:
    """Write into `outputs`. Both contiguous; other layouts, and the CPU, go through torch."""
    width = outputs.shape[-1]
    if not inputs.is_cuda or not inputs.is_contiguous() or not outputs.is_contiguous():
        outputs.copy_(reference(inputs, limit).view_as(outputs))
        return None
    rows = inputs.numel() // (2 * width)
    if rows:
        block = 1024 if width >= 1024 else triton.next_power_of_2(width)
        _kernel[(rows, triton.cdiv(width, block))](inputs, outputs, width, limit, BLOCK=block, num_warps=4)
    return None
