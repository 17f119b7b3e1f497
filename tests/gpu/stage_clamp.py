"""Humming's clamp: our kernel, and the patched HummingRunnerCore.apply_activation, against plain torch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from spark_chat.sglang_plugin import clamp_kernel, humming_clamp
from tests.gpu.timing import graph_us

LIMIT = 4.0
SHAPES = ((8, 768), (32, 768), (8, 256), (2048, 768), (5, 100))


def run() -> dict[str, Any]:
    from sglang.srt.layers.moe.moe_runner.humming import HummingRunnerCore

    found: dict[str, Any] = {"limit": LIMIT, "shapes": []}
    original = HummingRunnerCore.apply_activation
    for rows, width in SHAPES:
        inputs = torch.randn(rows, 2 * width, device="cuda", dtype=torch.bfloat16) * 6
        known = clamp_kernel.reference(inputs, LIMIT)
        outputs = torch.empty(rows, width, device="cuda", dtype=torch.bfloat16)
        core = SimpleNamespace(activation="silu", swiglu_limit=None, config=SimpleNamespace(gemm1_clamp_limit=LIMIT))
        humming_clamp._apply_activation(original, core, inputs, outputs)
        stock = torch.empty_like(outputs)
        original(core, inputs, stock)
        step = torch.finfo(torch.bfloat16).eps * known.abs().max().item()
        found["shapes"].append({
            "shape": [rows, width],
            "largest_difference": (outputs - known).abs().max().item(),
            "right": bool((outputs - known).abs().max().item() <= step),
            "clamped_share": (stock != known).float().mean().item(),
        })  # fmt: skip
    inputs = torch.randn(8, 1536, device="cuda", dtype=torch.bfloat16)
    outputs = torch.empty(8, 768, device="cuda", dtype=torch.bfloat16)
    found["graph_us"] = graph_us(lambda: clamp_kernel.clamped_silu_and_mul(inputs, outputs, LIMIT))
    found["right"] = all(shape["right"] for shape in found["shapes"])
    return found
