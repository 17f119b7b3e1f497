"""In a process of its own, on the CPU: SGLang's real loader reads the oracle, with the plugin's hooks in place.

usage: python -m tests.sglang.load_oracle FOLDER target|draft [BACKEND of the experts]
Prints JSON: parameters that stayed unloaded (all were poisoned first), what the hooks did, what the probe reads.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch


def setup(folder: str, experts: str) -> tuple[Any, Any]:
    """(loader module, model arguments), with parallel state for one process."""
    from sglang.srt import runtime_context
    from sglang.srt.distributed import init_distributed_environment, initialize_model_parallel
    from sglang.srt.layers.dp_attention import initialize_dp_attention_flags
    from sglang.srt.layers.moe import initialize_moe_config
    from sglang.srt.model_loader import loader
    from sglang.srt.server_args import ServerArgs
    from sglang.srt.utils.network import get_free_port_below_ephemeral

    args = ServerArgs(
        model_path=folder, skip_tokenizer_init=True, device="cpu", dtype="bfloat16", attention_backend="torch_native",
        moe_runner_backend=experts, disable_shared_experts_fusion=True, context_length=8192,
        disable_cuda_graph=True, disable_overlap_schedule=True, page_size=1, max_running_requests=1,
        max_mamba_cache_size=64, mem_fraction_static=0.5,
    )  # fmt: skip
    runtime_context.publish(args, role="scheduler")
    initialize_moe_config()
    where = f"tcp://127.0.0.1:{get_free_port_below_ephemeral()}"
    init_distributed_environment(backend="gloo", world_size=1, rank=0, distributed_init_method=where, local_rank=0)
    runtime_context.get_parallel().override_permanently(
        tp_rank=0, pp_size=1, pp_rank=0, attn_dp_size=1, attn_dp_rank=0, attn_tp_size=1, attn_tp_rank=0, attn_cp_rank=0,
        attn_dcp_size=1, moe_ep_size=1, moe_ep_rank=0, moe_dp_size=1, moe_tp_size=1, moe_tp_rank=0,
    )  # fmt: skip
    initialize_model_parallel()
    initialize_dp_attention_flags(args)
    torch.set_default_dtype(torch.bfloat16)
    return loader, args


def poison(model: torch.nn.Module) -> None:
    """NaN where the type has one, else an odd byte."""
    for parameter in model.parameters():
        if parameter.dtype == torch.int8:
            parameter.data.fill_(-77)
        elif parameter.dtype == torch.float8_e4m3fn:
            parameter.data.view(torch.uint8).fill_(0x7F)
        else:
            parameter.data.fill_(float("nan"))


def unloaded(model: torch.nn.Module) -> list[str]:
    found = []
    for name, parameter in model.named_parameters():
        bad = parameter.data == -77 if parameter.dtype == torch.int8 else torch.isnan(parameter.data.float())
        if bad.float().mean().item() > (0.02 if parameter.dtype == torch.int8 else 0):
            found.append(name)
    return found


def activated(limit: float) -> bool | None:
    """Whether Marlin's activation computes the model's formula for `limit`; None where there is no clamp."""
    if not limit:
        return None
    from sglang.srt.layers.moe.fused_moe_triton import fused_marlin_moe

    from spark_chat.sglang_plugin import clamp_kernel

    inputs = torch.randn(5, 64) * 6
    outputs = torch.empty(5, 32)
    fused_marlin_moe.swiglu_limit_func(outputs, inputs, limit)
    return bool(torch.equal(outputs, clamp_kernel.reference(inputs, limit)))


def main() -> None:
    folder, draft = sys.argv[1], sys.argv[2] == "draft"
    from sglang.srt.plugins import load_plugins

    load_plugins()
    loader, args = setup(folder, sys.argv[3] if len(sys.argv) > 3 else "humming")
    from sglang.srt.configs.load_config import LoadConfig
    from sglang.srt.configs.model_config import ModelConfig

    from spark_chat.sglang_plugin import fp8_head, hooks, probe, shared_head

    config = ModelConfig.from_server_args(args, model_path=folder, is_draft_model=draft)
    load = LoadConfig(load_format="auto")
    model = loader._initialize_model(config, load, loader._get_quantization_config(config, load))
    poison(model)
    model.load_weights(iter(loader.DefaultModelLoader(load)._get_all_weights(config, model)))
    found: dict[str, Any] = {"class": type(model).__name__, "unloaded": unloaded(model), "hooks": hooks.report()}
    found["decision"] = dict(fp8_head.decision)
    found["experts"] = probe.experts(model)
    found["clamped"] = activated(float(found["experts"][0]["clamp"] or 0))
    if draft:
        found["lacked"] = not hasattr(type(model), shared_head.METHOD)
        found["taught"] = shared_head.teach(type(model))
        other = torch.nn.Linear(1, 1)
        model.set_lm_head_from_target(other)
        found["shared"] = model.lm_head is other
    else:
        model.lm_head.quant_method.process_weights_after_loading(model.lm_head)
        found["head"] = probe.head(model)
        x = torch.randn(3, model.lm_head.weight.shape[1])
        found["logits"] = list(model.lm_head.quant_method.apply(model.lm_head, x).shape)
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
