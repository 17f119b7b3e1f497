"""Humming experts honour the model's trained SwiGLU clamp.

Why: Ling 3.0's config has `expert_swiglu_limit_list`; its model code hands the limit to the experts as
`gemm1_clamp_limit`. SGLang 0.5.23's HummingRunnerCore reads only `swiglu_limit` (another formula: it clamps before
the SiLU), so those layers run unclamped, without a word. The model's own dense and shared MLPs, and FlashInfer's
MXFP4 path, compute clamp(silu(gate), max=L) * clamp(up, -L, L).
For: SGLang 0.5.23.
Can go: once HummingRunnerCore.apply_activation reads `config.gemm1_clamp_limit`.
"""

from __future__ import annotations

from typing import Any

from spark_chat.sglang_plugin import hooks, switches

TARGET = "sglang.srt.layers.moe.moe_runner.humming.HummingRunnerCore.apply_activation"


def register() -> None:
    """The Humming module is heavy, and only the scheduler builds models: hooked when the first model is made."""
    if switches.expert_clamp():
        hooks.add("humming clamp: late", "sglang.srt.model_loader.loader._initialize_model", "before", _late)


def _late(*_args: Any, **_kwargs: Any) -> None:
    from sglang.srt.layers.moe.utils import get_moe_runner_backend, get_speculative_moe_runner_backend

    if get_moe_runner_backend().is_humming() or get_speculative_moe_runner_backend().is_humming():
        hooks.add("humming clamp", TARGET, "around", _apply_activation)
        hooks.apply()


def _apply_activation(original: Any, self: Any, inputs: Any, outputs: Any) -> Any:
    limit = getattr(self.config, "gemm1_clamp_limit", None)
    if self.activation != "silu" or limit is None:
        return original(self, inputs, outputs)
    from spark_chat.sglang_plugin.clamp_kernel import clamped_silu_and_mul

    return clamped_silu_and_mul(inputs, outputs, float(limit))
