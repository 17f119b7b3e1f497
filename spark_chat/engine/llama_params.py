"""What was asked for -> llama.cpp's parameters, checked before anything is loaded."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spark_chat.engine.gguf_facts import GgufFacts
from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.memory import available_bytes
from spark_chat.engine.model_path import for_llama
from spark_chat.engine.native_args import apply
from spark_chat.engine.protocol import Load

RESERVED = {
    "model.path": "engine.model",
    "model.url": "engine.model",
    "model.hf_repo": "engine.model",
    "model.hf_file": "engine.model",
    "model.docker_repo": "engine.model",
    "n_ctx": "engine.context",
    "n_parallel": "nothing: one answer is written at a time",
}
"""Arguments that have a setting of their own."""

STEP = 256
"""llama.cpp rounds a context up to a multiple of this."""
LEAST_CONTEXT = 2048
SPARE = 512 * 1024 * 1024
"""Bytes beside weights and KV cache: compute buffers, this process, the chat."""
BATCH = 64
"""Prompt tokens a decode call on a CPU, where more at a time gains next to nothing and an abort waits for the call."""
NGRAM, NGRAM_ON_CPU = (16, 1, 16), (16, 1, 4)
"""n_match, n_min, n_max: a draft starts after a match of so many ids, and holds that many.

Short ones on a CPU: there each position of a verify step costs about 0.7 of a plain step, so a refused draft of 16
costs some eleven steps and one of 4 three, while four that are accepted give most of what sixteen do.
"""
PROMPT_CACHE_MIB = 512
"""llama.cpp's cache of older conversations' KV; its own default is 8 GiB."""

GIB = 1024**3


@dataclass
class Plan:
    """Parameters for one start. `kind`: "MTP", "n-gram" or "" for no speculation. `facts` go into Ready."""

    params: Any
    context: int
    kind: str
    facts: dict[str, Any] = field(default_factory=dict)


def plan(command: Load, model: GgufFacts, native: Any) -> Plan:
    """`native` is the xllamacpp module. Raises EngineFailure."""
    params = native.CommonParams()
    gpu = _gpu(native)
    params.model.path = for_llama(str(model.files[0] if len(model.files) > 1 else Path(command.model)))
    params.n_parallel = 1
    params.cpuparams.n_threads = max(1, cores() - 1)  # its threads spin: one core stays free for the chat
    if not gpu:
        params.n_batch = params.n_ubatch = BATCH
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.fit_params = gpu  # without a GPU there is nothing to fit, and it takes as long as a small model's load
    params.sampling.min_p = 0.0  # sampling is what the settings say, and no more
    params.verbosity = 4  # at which it says which speculation it set up: the proof
    params.endpoint_metrics = True
    params.endpoint_slots = False
    params.ui = False
    # llama.cpp opens a port on 127.0.0.1 whether one wants it or not: nobody else may read the conversation there.
    params.api_keys = [secrets.token_hex(32)]
    params.cors_origins = "http://127.0.0.1"
    kind = _speculate(command, model, native, params, gpu)
    changed = apply(params, command.args, RESERVED)
    facts: dict[str, Any] = {"gpu": gpu}
    context = _context(command, model, facts, params, native)
    facts["threads"] = params.cpuparams.n_threads
    if changed:
        facts["args"] = changed
    rounded = -(-context // STEP) * STEP
    if not gpu:
        each = model.kv_bytes_per_token(_element_bytes(params, native)) or 0
        _check_memory(model, each * rounded, rounded, facts)
    params.n_ctx = rounded
    return Plan(params, context, kind, facts)


def cores() -> int:
    """CPU cores that this process may use, whole ones of a control group's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            count = min(count, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass
    return count


def _gpu(native: Any) -> bool:
    """Whether this build of llama.cpp has a GPU to put layers on."""
    return any("GPU" in str(device.get("type", "")) for device in native.get_device_info())


def _speculate(command: Load, model: GgufFacts, native: Any, params: Any, gpu: bool) -> str:
    if not command.optimizations.get("mtp", False):
        params.speculative.types = []
        return ""
    types = native.common_speculative_type
    if model.mtp_layers:
        params.speculative.types = [types.COMMON_SPECULATIVE_TYPE_DRAFT_MTP]
        steps = command.options.get("draft_steps", 3)
        draft = params.speculative.draft
        if steps == "auto":
            draft.n_max, draft.p_min = 7, 0.75  # drafts on while the block itself is sure enough
        elif isinstance(steps, int) and not isinstance(steps, bool) and 1 <= steps <= 64:
            draft.n_max = steps
        else:
            raise EngineFailure(
                "request", f"{steps!r} is no number of draft tokens.", remedy="Set optimizations.draft_steps to 1..7."
            )
        return "MTP"
    params.speculative.types = [types.COMMON_SPECULATIVE_TYPE_NGRAM_MOD]
    ngram = params.speculative.ngram_mod
    ngram.n_match, ngram.n_min, ngram.n_max = NGRAM if gpu else NGRAM_ON_CPU
    return "n-gram"


def _context(command: Load, model: GgufFacts, facts: dict[str, Any], params: Any, native: Any) -> int:
    """The context to ask for. Of 0, the trained length as far as memory allows: a quarter of what is free at most."""
    facts["context_trained"] = model.context
    trained = model.context or 4096
    if command.context:
        if command.context > trained:
            facts["context_note"] = (
                f"{command.context:,} tokens were asked for; the model was trained for {trained:,}, which is used."
            )
        return min(command.context, trained)
    each = model.kv_bytes_per_token(_element_bytes(params, native))
    if each:
        room = max(0, available_bytes() - model.bytes - SPARE) // 4
        fits = max(LEAST_CONTEXT, room // each // STEP * STEP)
        if fits < trained:
            facts["context_note"] = (
                f"The model was trained for {trained:,} tokens; memory for the KV cache allows {fits:,}. "
                "engine.context sets it."
            )
            return fits
    facts["context_note"] = "The model's own trained length."
    return trained


def _element_bytes(params: Any, native: Any) -> float:
    quantised = {native.ggml_type.GGML_TYPE_F32: 4.0, native.ggml_type.GGML_TYPE_Q8_0: 34 / 32}
    return (quantised.get(params.cache_type_k, 2.0) + quantised.get(params.cache_type_v, 2.0)) / 2


def _check_memory(model: GgufFacts, cache: int, context: int, facts: dict[str, Any]) -> None:
    needed, free = model.bytes + cache + SPARE, available_bytes()
    facts["kv_cache_bytes"] = cache
    if needed > free:
        raise EngineFailure(
            "memory",
            f"The model needs about {needed / GIB:.1f} GiB and {free / GIB:.1f} GiB are free.",
            f"Weights take {model.bytes / GIB:.1f} GiB and the KV cache for {context:,} tokens {cache / GIB:.1f} GiB.",
            "Choose a smaller model, lower engine.context, or close what holds the memory.",
            needed_bytes=needed,
            available_bytes=free,
            weights_bytes=model.bytes,
            kv_cache_bytes=cache,
        )
