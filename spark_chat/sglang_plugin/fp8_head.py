"""The output layer (LM head) in FP8: e4m3 with a scale per vocabulary row, quantised at load from the checkpoint.

Why: at batch 1 every step reads the whole head; in FP8 that is half the bytes. SGLang 0.5.23 has no such option:
Fp8Config gives ParallelLMHead no method, and SGLANG_ENABLE_FP8_LM_HEAD, known from a fork, is ignored in silence.
How: the model class makes and loads its BF16 head as always; only the head's `quant_method` is swapped, right after
the model was built, for one that quantises when weights have been loaded. The BF16 copy is freed there, before
memory pools are sized.
For: SGLang 0.5.23. Can go: once SGLang quantises an output layer online by itself.
"""

from __future__ import annotations

import weakref
from functools import cache
from typing import Any

from spark_chat.sglang_plugin import hooks, switches

TARGET = "sglang.srt.model_loader.loader._initialize_model"

decision: dict[str, Any] = {"swapped": False, "reason": "no model was built yet"}
"""What was done with the target's head, for the probe."""


def register() -> None:
    if switches.fp8_head():
        hooks.add("fp8 head", TARGET, "after", _after_initialize)


def _after_initialize(model: Any, model_config: Any, *_args: Any, **_kwargs: Any) -> None:
    if getattr(model_config, "is_draft_model", False):
        return
    head, reason = find_head(model)
    if head is None:
        decision.update(swapped=False, reason=reason)
        return
    head.quant_method = method_class()(model)
    decision.update(swapped=True, reason="")


def find_head(model: Any) -> tuple[Any, str]:
    """The model's own, untied, unquantised head; or None and why there is none."""
    from sglang.srt.layers.quantization.unquant import UnquantizedEmbeddingMethod
    from sglang.srt.layers.vocab_parallel_embedding import ParallelLMHead

    heads = [
        (name, module)
        for name, module in model.named_modules()
        if isinstance(module, ParallelLMHead) and name.rsplit(".", 1)[-1] == "lm_head"
    ]
    if not heads:
        tied = getattr(getattr(model, "config", None), "tie_word_embeddings", False)
        return None, TIED if tied else f"{type(model).__name__} has no output layer of a known class"
    head = heads[0][1]
    if is_tied(model, head):
        return None, TIED
    if type(head.quant_method) is not UnquantizedEmbeddingMethod:
        return None, f"the output layer already has a method of its own, {type(head.quant_method).__name__}"
    return head, ""


TIED = "the output layer is tied to the embedding, which is read row by row: it stays as it is"


def is_tied(model: Any, head: Any) -> bool:
    """Whether the head's weight also serves as an embedding."""
    from sglang.srt.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding

    if getattr(getattr(model, "config", None), "tie_word_embeddings", False):
        return True
    weight = getattr(head, "weight", None)
    return any(
        isinstance(module, VocabParallelEmbedding)
        and not isinstance(module, ParallelLMHead)
        and getattr(module, "weight", None) is weight
        for module in model.modules()
    )


@cache
def method_class() -> type:
    """The class is made on first use: its base lives in SGLang."""
    import torch
    from sglang.srt.layers.quantization.unquant import UnquantizedEmbeddingMethod

    from spark_chat.sglang_plugin import fp8_head_kernel as kernel

    class SparkChatFp8HeadMethod(UnquantizedEmbeddingMethod):  # type: ignore[misc]
        """W8A16: weights e4m3 with a float32 scale per row, activations as they come, float32 logits."""

        def __init__(self, model: Any) -> None:
            self.model = weakref.ref(model)
            self.check_error: float | None = None

        def process_weights_after_loading(self, layer: Any) -> None:
            if layer.weight.dtype == torch.float8_e4m3fn:
                return
            model = self.model()
            if model is not None and is_tied(model, layer):
                layer.quant_method = UnquantizedEmbeddingMethod()
                decision.update(swapped=False, reason=TIED)
                return
            before = layer.weight.numel() * layer.weight.element_size()
            sample = layer.weight.data[: kernel.CHECK_ROWS].clone()
            quantised, scale = kernel.quantise(layer.weight.data)
            layer.weight = torch.nn.Parameter(quantised, requires_grad=False)
            layer.weight_scale = torch.nn.Parameter(scale, requires_grad=False)
            if quantised.is_cuda:
                torch.cuda.empty_cache()
            self.check_error = kernel.warm_and_check(layer.weight.data, layer.weight_scale.data, sample.dtype)
            decision.update(
                bytes_before=before,
                bytes=quantised.numel() + scale.numel() * 4,
                quantisation_error=kernel.quantisation_error(sample, quantised, scale),
            )

        def apply(self, layer: Any, x: Any, bias: Any = None) -> Any:
            logits = kernel.logits(x, layer.weight, layer.weight_scale)
            return logits if bias is None else logits + bias

        def embedding(self, layer: Any, input_: Any) -> Any:
            rows = torch.nn.functional.embedding(input_, layer.weight.view(torch.uint8)).view(torch.float8_e4m3fn)
            return (rows.float() * layer.weight_scale[input_][..., None]).to(torch.get_default_dtype())

    return SparkChatFp8HeadMethod
