"""In a process of its own, on the CPU through Triton's interpreter: the kernels' numbers against plain torch."""

from __future__ import annotations

import json
import os

os.environ["TRITON_INTERPRET"] = "1"


def main() -> None:
    import torch
    import triton

    from spark_chat.sglang_plugin import clamp_kernel
    from spark_chat.sglang_plugin import fp8_head_kernel as kernel
    from spark_chat.sglang_plugin.fp8_head_kernel import Config
    from spark_chat.sglang_plugin.fp8_head_triton import launch

    torch.manual_seed(0)
    worst = {}
    fma, dot = Config("fma", 16, 64, 4, 2), Config("dot", 32, 64, 4, 2)
    cases = [(1, fma), (2, fma), (1, dot), (4, dot), (7, dot), (20, dot)]
    for hidden in (128, 160):  # the second is no multiple of a step
        weight, scale = kernel.quantise(torch.randn(200, hidden))  # 200: the last block is not full
        for rows, config in cases:
            x = torch.randn(rows, hidden).half()  # the interpreter multiplies no bf16
            out = torch.full((rows, 200), float("nan"))
            launch(x, weight, scale, out, kernel.padded(rows), config)
            known = kernel.reference(x, weight, scale)
            worst[f"{config.form} {rows} x {hidden}"] = ((out - known).abs().max() / known.abs().max()).item()
    inputs = torch.randn(5, 2 * 100) * 6
    outputs = torch.full((5, 100), float("nan"))
    clamp_kernel._kernel[(5, triton.cdiv(100, 128))](inputs, outputs, 100, 4.0, BLOCK=128)
    worst["clamp"] = (outputs - clamp_kernel.reference(inputs, 4.0)).abs().max().item()
    print("RESULT " + json.dumps(worst))


if __name__ == "__main__":
    main()
