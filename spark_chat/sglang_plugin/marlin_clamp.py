"""Marlin's experts honour the model's trained SwiGLU clamp: Humming's gap, in the kernels that stand in for it.

Why: SGLang 0.5.23's Marlin runner takes a layer's `gemm1_clamp_limit` only together with `gemm1_alpha` (gpt-oss), so
Ling's layers run unclamped, without a word, and humming = false on a chip that runs Marlin would change the text.
How: a layer that has the one without the other is given its limit as `swiglu_limit`, which reaches the activation;
that function clamps before the SiLU, so for these limits the model's own formula is computed in its place.
For: SGLang 0.5.23. Can go: once the Marlin runner honours `gemm1_clamp_limit` without `gemm1_alpha`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from spark_chat.sglang_plugin import hooks, switches

CONFIG = "sglang.srt.layers.quantization.mxfp4_marlin_moe.Mxfp4MarlinMoEMethod.create_moe_runner"
ACTIVATION = "sglang.srt.layers.moe.fused_moe_triton.fused_marlin_moe.swiglu_limit_func"

_limits: set[float] = set()
"""Limits that mean the model's formula; a model's clamps are all of one kind."""


def register() -> None:
    """Marlin's modules are heavy, and only the scheduler builds models: hooked when the first model is made."""
    if switches.expert_clamp():
        hooks.add("marlin clamp: late", "sglang.srt.model_loader.loader._initialize_model", "before", _late)


def _late(*_args: Any, **_kwargs: Any) -> None:
    from sglang.srt.layers.moe.utils import get_moe_runner_backend, get_speculative_moe_runner_backend

    if get_moe_runner_backend().is_marlin() or get_speculative_moe_runner_backend().is_marlin():
        hooks.add("marlin clamp", ACTIVATION, "around", _activate)
        hooks.add("marlin clamp: limits", CONFIG, "before", _give_limit)
        hooks.apply()


def _give_limit(method: Any, layer: Any, config: Any) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    limit = config.gemm1_clamp_limit
    if limit is None or config.gemm1_alpha is not None or config.swiglu_limit is not None:
        return None
    _limits.add(float(limit))
    return (method, layer, dataclasses.replace(config, swiglu_limit=float(limit))), {}


def _activate(original: Any, output: Any, input: Any, swiglu_limit: float = 0.0) -> Any:
    if float(swiglu_limit) not in _limits:
        return original(output, input, swiglu_limit)
    from spark_chat.sglang_plugin.clamp_kernel import clamped_silu_and_mul

    return clamped_silu_and_mul(input, output, float(swiglu_limit))
