"""What is really there, read in the scheduler once everything is built and captured.

Why: SGLang 0.5.23's server info says what was asked for and resolved, not what each layer runs; a hook that could
not be applied, or a plugin that did not load, is only a line on its log. The report is added to the scheduler's init
info (`result["spark_chat"]`), so it also stands in `/server_info`; a live one goes into the internal state.
For: SGLang 0.5.23. Can go: never as a whole; it is how the badges are proven. It reads through getattr, so that it
also works, and says what is missing, on a version that the patches refuse.
"""

from __future__ import annotations

from typing import Any

from spark_chat.sglang_plugin import compiled, fp8_head, hooks, shared_head, split_verify, switches, version

TARGET = "sglang.srt.managers.scheduler.Scheduler.get_init_info"
LIVE_TARGET = (
    "sglang.srt.managers.scheduler_components.internal_state.SchedulerInternalStateController.get_internal_state"
)
KEY = "spark_chat"


def register() -> None:
    if switches.probe():
        hooks.add("probe", TARGET, "after", _after_init_info)
        hooks.add("live probe", LIVE_TARGET, "after", _after_internal_state)


def _after_init_info(result: Any, scheduler: Any, *_args: Any, **_kwargs: Any) -> Any:
    try:
        result[KEY] = report(scheduler)
    except Exception as error:  # a report that breaks must not take the engine down: it is a failed proof
        result[KEY] = {"error": f"{type(error).__name__}: {error}"}
    return result


def _after_internal_state(result: Any, controller: Any, *_args: Any, **_kwargs: Any) -> Any:
    state = getattr(result, "internal_state", None)
    if isinstance(state, dict):
        worker = getattr(controller.scheduler, "draft_worker", None)
        state[KEY] = {"draft_steps": _steps(worker), "hooks": hooks.report()}
    return result


def report(scheduler: Any) -> dict[str, Any]:
    """Plain values only: it travels through a pipe and through msgpack."""
    model = scheduler.tp_worker.model_runner.model
    return {
        "sglang": version.installed(),
        "refused": None if version.installed() in version.TESTED else version.refusal(),
        "switches": {
            "fp8_head": switches.fp8_head(),
            "shared_head": switches.shared_head(),
            "expert_clamp": switches.expert_clamp(),
            "split_verify": switches.split_verify(),
        },
        "hooks": hooks.report(),
        "model": type(model).__name__,
        "experts": experts(model),
        "clamp_wanted": clamp_wanted(scheduler),
        "head": head(model),
        "draft": draft(scheduler, model),
        "graphs": dict((getattr(scheduler, "startup_time", None) or {}).get("cuda_graph", {})),
        "memory": memory(scheduler),
        "compiled": compiled.report(),
    }


def experts(model: Any) -> list[dict[str, Any]]:
    """One entry a layer of experts: who multiplies it, and the clamp it was given."""
    found = []
    for name, module in model.named_modules():
        method = getattr(module, "quant_method", None)
        if method is None or not hasattr(module, "num_local_experts"):
            continue
        runner = getattr(method, "runner", None)
        core = getattr(runner, "runner_core", None)
        config = getattr(core, "config", None) or getattr(module, "moe_runner_config", None)
        found.append(
            {
                "layer": name,
                "method": type(method).__name__,
                "backend": str(getattr(module, "_dsv4_mxfp4_backend", "")),
                "runner": type(core).__name__ if core is not None else "",
                "prepared": bool(getattr(module, "humming_metas", None)),
                "clamp": _number(getattr(config, "gemm1_clamp_limit", None)),
            }
        )
    return found


def clamp_wanted(scheduler: Any) -> list[float | None] | None:
    """The model's own list of limits, a layer each, as its config has it."""
    config = getattr(scheduler.tp_worker.model_runner.model_config, "hf_config", None)
    wanted = getattr(config, "expert_swiglu_limit_list", None)
    return None if wanted is None else [_number(limit) for limit in wanted]


def head(model: Any) -> dict[str, Any]:
    module = getattr(model, "lm_head", None)
    if module is None:
        inner = getattr(model, "language_model", None)
        module = getattr(inner, "lm_head", None)
    weight, scale = getattr(module, "weight", None), getattr(module, "weight_scale", None)
    method = getattr(module, "quant_method", None)
    logits = getattr(model, "logits_processor", None)
    return {
        "module": type(module).__name__,
        "method": type(method).__name__,
        "dtype": str(getattr(weight, "dtype", "")).replace("torch.", ""),
        "shape": list(getattr(weight, "shape", ())),
        "scale_dtype": str(getattr(scale, "dtype", "")).replace("torch.", ""),
        "scale_shape": list(getattr(scale, "shape", ())),
        "bytes": _bytes(weight) + _bytes(scale),
        "device": str(getattr(weight, "device", "")),
        "kernel": "spark_chat W8A16 (Triton)" if scale is not None and getattr(weight, "is_cuda", False) else "torch",
        "check_error": getattr(method, "check_error", None),
        "fp32_output": bool(getattr(logits, "use_fp32_lm_head", False)),
        "decision": dict(fp8_head.decision),
    }


def draft(scheduler: Any, target: Any) -> dict[str, Any] | None:
    """None without speculation."""
    worker = getattr(scheduler, "draft_worker", None)
    if worker is None:
        return None
    runners = worker._draft_model_runners() if hasattr(worker, "_draft_model_runners") else ()
    models = [runner.model for runner in runners]
    own = getattr(models[0], "lm_head", None) if models else None
    args = scheduler.server_args
    return {
        "worker": type(worker).__name__,
        "class": type(models[0]).__name__ if models else "",
        "head_is_target": bool(models) and all(
            getattr(model, "lm_head", None) is getattr(target, "lm_head", object()) for model in models
        ),
        "head_dtype": str(getattr(getattr(own, "weight", None), "dtype", "")).replace("torch.", ""),
        "sharing": dict(shared_head.decisions),
        "split_verify": split_verify.decision,
        "experts": [entry for model in models for entry in experts(model)],
        "steps": _steps(worker),
        "topk": getattr(args, "speculative_eagle_topk", None),
        "draft_tokens": getattr(args, "speculative_num_draft_tokens", None),
        "adaptive": _adaptive(worker),
        "adaptive_refused": adaptive_refused(worker, args),
        "tied": _tied(target) and bool(models) and all(_weight(model) is _weight(target) for model in models),
    }  # fmt: skip


def adaptive_refused(worker: Any, args: Any) -> str:
    """Why SGLang keeps one draft length although adaptive steps were asked for; "" where they run or were not.

    `args` holds what was given: SGLang notes only elsewhere, and on its log, that it changed its mind."""
    if not getattr(args, "speculative_adaptive", False) or _adaptive(worker):
        return ""
    try:
        from sglang.srt.speculative.adaptive_spec_params import adaptive_unsupported_reason

        return str(adaptive_unsupported_reason(args) or f"{type(worker).__name__} has no adaptive steps")
    except Exception as error:
        return f"its reason could not be read ({type(error).__name__})"


def _adaptive(worker: Any) -> bool:
    """Whether the draft length is adapted: the outer worker has a controller for it, or the inner one."""
    owners = (worker, getattr(worker, "_draft_worker", None))
    return any(getattr(owner, "adaptive_controller", None) is not None for owner in owners)


def _weight(model: Any) -> Any:
    return getattr(getattr(model, "lm_head", None), "weight", None)


def _tied(model: Any) -> bool:
    config = getattr(model, "config", None)
    text = getattr(config, "text_config", None)
    return bool(getattr(config, "tie_word_embeddings", False) or getattr(text, "tie_word_embeddings", False))


def memory(scheduler: Any) -> dict[str, Any]:
    runner = scheduler.tp_worker.model_runner
    return {
        "weights_gib": _number(getattr(runner, "weight_load_mem_usage", None)),
        "cache_tokens": getattr(scheduler, "max_total_num_tokens", None),
        "cache_bytes": _cache_bytes(scheduler, runner),
    }


def _cache_bytes(scheduler: Any, runner: Any) -> int | None:
    """Of the KV cache, the states of linear attention, and the drafting block's own cache. A pool's `mem_usage` is in
    GiB. None where none says its size."""
    worker = getattr(scheduler, "draft_worker", None)
    drafting = [getattr(owner, "draft_runner", None) for owner in (worker, getattr(worker, "_draft_worker", None))]
    pools = [getattr(runner, "token_to_kv_pool", None)]
    pools.append(getattr(getattr(runner, "req_to_token_pool", None), "mamba_pool", None))
    pools += [getattr(other, "token_to_kv_pool", None) for other in drafting]
    different = {id(pool): pool for pool in pools if pool is not None}.values()
    sizes = [_number(getattr(pool, "mem_usage", None)) or 0.0 for pool in different]
    return round(sum(sizes) * 2**30) or None


def _steps(worker: Any) -> int | None:
    """Draft steps in use now; the outer worker has them, or the inner one."""
    for owner in (worker, getattr(worker, "_draft_worker", None)):
        steps = getattr(owner, "speculative_num_steps", None)
        if isinstance(steps, int):
            return steps
    return None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _bytes(tensor: Any) -> int:
    return int(tensor.numel() * tensor.element_size()) if tensor is not None and hasattr(tensor, "numel") else 0
