"""The experts' clamp: our kernel, and Humming's and Marlin's patched activations, against plain torch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from spark_chat.sglang_plugin import clamp_kernel, humming_clamp, marlin_clamp
from tests.gpu.timing import graph_us

LIMIT = 4.0
SHAPES = ((8, 768), (32, 768), (8, 256), (2048, 768), (5, 100))
ALIGNED = 16
"""The stock kernel reads 16 bytes at a time: widths that are no multiple of this are not for it."""


def run() -> dict[str, Any]:
    from sglang.srt.layers.moe.fused_moe_triton.fused_marlin_moe import swiglu_limit_func
    from sglang.srt.layers.moe.moe_runner.humming import HummingRunnerCore

    marlin_clamp._limits.add(LIMIT)

    found: dict[str, Any] = {"limit": LIMIT, "shapes": []}
    original = HummingRunnerCore.apply_activation
    for rows, width in SHAPES:
        inputs = torch.randn(rows, 2 * width, device="cuda", dtype=torch.bfloat16) * 6
        known = clamp_kernel.reference(inputs, LIMIT)
        ours = torch.empty(rows, width, device="cuda", dtype=torch.bfloat16)
        core = SimpleNamespace(activation="silu", swiglu_limit=None, config=SimpleNamespace(gemm1_clamp_limit=LIMIT))
        humming_clamp._apply_activation(original, core, inputs, ours)
        marlin = torch.empty_like(ours)
        marlin_clamp._activate(swiglu_limit_func, marlin, inputs, LIMIT)
        step = torch.finfo(torch.bfloat16).eps * known.abs().max().item()
        furthest = max((outputs - known).abs().max().item() for outputs in (ours, marlin))
        shape = {"shape": [rows, width], "largest_difference": furthest, "right": furthest <= step}
        if width % ALIGNED == 0:
            stock = torch.empty_like(ours)
            original(core, inputs, stock)
            shape["clamped_share"] = (stock != known).float().mean().item()
        found["shapes"].append(shape)
    inputs = torch.randn(8, 1536, device="cuda", dtype=torch.bfloat16)
    outputs = torch.empty(8, 768, device="cuda", dtype=torch.bfloat16)
    found["graph_us"] = graph_us(lambda: clamp_kernel.clamped_silu_and_mul(inputs, outputs, LIMIT))
    found["right"] = all(shape["right"] for shape in found["shapes"])
    return found
