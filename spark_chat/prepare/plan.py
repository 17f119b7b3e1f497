"""What must be compiled for a recipe, how many jobs the memory allows, and how long it took last time. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from spark_chat.machine import Machine
from spark_chat.meters.units import seconds
from spark_chat.recipe.recipe import Recipe

GIB = 1024**3
JOB_BYTES = 10 * GIB
"""Memory that one compiler of FlashInfer's largest sources may take."""
MOST_JOBS = 8
BASELINE = "flashinfer_mxfp4"
TARGETS = 97
"""Steps of FlashInfer's fused experts on sm_12x."""
KEYS = (
    "attention_backend", "moe_runner_backend", "fp8_gemm_runner_backend", "page_size", "dtype", "enable_fp32_lm_head",
    "chunked_prefill_size", "max_mamba_cache_size", "speculative_algorithm", "speculative_num_steps",
    "speculative_eagle_topk", "speculative_num_draft_tokens", "cuda_graph_bs_decode", "disable_shared_experts_fusion",
)  # fmt: skip
"""Arguments that decide which kernels are compiled."""

Kind = Literal["flashinfer", "rehearsal"]
TITLES: dict[Kind, str] = {
    "flashinfer": "FlashInfer's fused experts",
    "rehearsal": "the engine's kernels, on a few layers without weights",
}


@dataclass(frozen=True)
class Task:
    """One thing to compile. `key` tells it from others of its kind; `jobs`: compilers at a time. `seconds`: what it
    took last time on this machine, None where it was never done."""

    kind: Kind
    key: str
    jobs: int
    seconds: float | None = None

    @property
    def title(self) -> str:
        return TITLES[self.kind]


def tasks(recipe: Recipe, machine: Machine, available: int, shape: Mapping[str, Any], took: Mapping[str, float]
          ) -> tuple[Task, ...]:  # fmt: skip
    """All that `recipe` needs on `machine`, in order: nothing for llama.cpp, whose kernels come compiled.

    `available`: bytes of memory that are free. `shape`: the model's config.json. `took`: key -> seconds.
    """
    if recipe.engine != "sglang":
        return ()
    chip = str(machine.gpu.capability) if machine.gpu else ""
    cpus = jobs(machine.cores, available)
    found: list[Task] = []
    if recipe.args.get("moe_runner_backend") == BASELINE:
        key = _key("flashinfer", chip, {})
        found.append(Task("flashinfer", key, cpus, took.get(key)))
    decides = {name: recipe.args.get(name) for name in KEYS}
    decides |= {"wanted": {name: on and name not in recipe.unavailable for name, on in recipe.requested.items()}}
    sizes = {name: value for name, value in shape.items() if isinstance(value, int | str | float)}
    decides |= {"shape": {name: value for name, value in sizes.items() if name != "num_hidden_layers"}}
    key = _key("rehearsal", chip, decides)
    found.append(Task("rehearsal", key, cpus, took.get(key)))
    return tuple(found)


def jobs(cores: int, available: int) -> int:
    """Compilers at a time: no more than the memory bears, for a GB10 that runs out of it wedges without a word."""
    return max(1, min(cores, available // JOB_BYTES, MOST_JOBS))


def estimate(left: tuple[Task, ...]) -> float | None:
    """Seconds for all of them together; None where one was never done here."""
    known = [task.seconds for task in left]
    return None if any(seconds is None for seconds in known) else sum(seconds or 0.0 for seconds in known)


def took(left: Sequence[Task]) -> str:
    """How long all of them take, for a person: "4 min 10 s last time", "some minutes the first time"."""
    known = estimate(tuple(left)) if left else None
    return "some minutes the first time" if known is None else f"{seconds(known)} last time"


def _key(kind: Kind, chip: str, decides: Mapping[str, Any]) -> str:
    text = json.dumps([chip, decides], sort_keys=True, default=str)
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
