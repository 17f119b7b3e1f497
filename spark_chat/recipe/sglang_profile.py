"""SGLang's part of a recipe: one table a kind of machine, with a reason a line.

Humming, the FP8 head and MTP set their own arguments (optimizations/); a person's engine.args win over all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from spark_chat.machine import Machine
from spark_chat.recipe import checkpoint, kernel_cache
from spark_chat.recipe.checkpoint import Checkpoint
from spark_chat.recipe.profile import Profile
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings

LINGER_S = 600


class Line(NamedTuple):
    """One ServerArgs field and why it has this value."""

    name: str
    value: Any
    reason: str


ONE_PERSON = (
    Line("max_running_requests", 1, "One person: one answer at a time; under speculation the default is 48."),
    Line("cuda_graph_backend_decode", "full", "A decode step at batch 1 is bound by launches unless it is a graph."),
    Line("cuda_graph_max_bs_decode", 1, "No graph for a batch that never comes."),
    Line("cuda_graph_bs_decode", [1], "As above: each size costs seconds and memory at start."),
    Line("cuda_graph_backend_prefill", "disabled", "Prompts differ in length: their graphs would not be met again."),
    Line("chunked_prefill_size", 8192, "Long prompts in pieces, so that their activations stay small."),
    Line("max_prefill_tokens", 16384, "As above, for a whole prompt."),
    Line("sleep_on_idle", True, "A chat that waits for its person must not hold a core busy."),
)
"""On every machine."""

SPARK = (
    Line("attention_backend", "flashinfer", "The backend with MLA and decode kernels for sm_121."),
    Line("fp8_gemm_runner_backend", "cutlass", "The FP8 block GEMM with machine code for sm_121 in the stock wheel."),
    Line("disable_flashinfer_autotune", True, "Autotuning at start has locked a GB10's driver."),
    Line("mem_fraction_static", 0.68, "Memory is shared with the system; 0.75 has locked a GB10's driver."),
    Line("page_size", 64, "The page of the MLA kernels; with it the state cache keeps overlapped scheduling."),
)
"""DGX Spark: GB10, sm_121, 121 GiB of memory shared with the CPU."""

GENERIC = (
    Line("attention_backend", "triton", "Compiles for any chip; FlashInfer's MLA needs FlashMLA on sm_90 for drafts."),
    Line("fp8_gemm_runner_backend", "triton", "Compiles for any chip; cutlass is refused on sm_90."),
    Line("page_size", 64, "As on a Spark: with it the state cache keeps overlapped scheduling."),
)
"""Any other NVIDIA GPU, sm_90 among them."""

HYBRID = (
    Line("dtype", "bfloat16", "What the model was trained and published in."),
    Line("max_mamba_cache_size", 64, "States of the linear attention: 64 prefixes are plenty for one person."),
    Line("disable_shared_experts_fusion", True, "The shared expert is FP8 and the routed ones MXFP4: they can't fuse."),
)
"""Ling 3.0 and its kin."""

DRAFTED = frozenset(
    f"{name}For{kind}"
    for kind, names in {
        "CausalLM": "BailingMoe BailingMoeV2 BailingMoeV2_5 BailingMoeV3 DeepseekV3 DeepseekV32 DeepseekV4 GlmMoeDsa "
        "Glm4Moe Glm4MoeLite LongcatFlash MiMo MiMoV2 MiMoV2Flash Step3p5 GigaChat35 Ernie4_5_Moe Qwen3Next Qwen3Moe "
        "Qwen3_5 Qwen3_5Moe ExaoneMoE ExaoneMoe NemotronH NemotronHPuzzle HYV3 HYV4",
        "ConditionalGeneration": "Glm5Next GlmOcr Inkling Step3p7 Qwen4Exp Qwen3_5 Qwen3_5Moe InternS2Preview "
        "InternS2Mobius",
    }.items()
    for name in names.split()
)
"""Architectures whose own multi-token-prediction block SGLang 0.5.23 can load as a draft."""

SEED_HEEDED = "enable_deterministic_inference"
SEED_NOTE = (
    "sampling.seed: SGLang heeds it only with engine.args.enable_deterministic_inference = true. That samples with "
    "PyTorch's kernels instead of FlashInfer's, and with flashinfer attention (a Spark's) no prompt is kept for the "
    "next one, so each turn reads the whole conversation again."
)

DENSE_GENERIC = ("attention_backend", "fp8_gemm_runner_backend", "page_size")
"""Lines of GENERIC that only Ling's kind needs: for other models SGLang's own choice is better informed."""

OPTIONS = {
    "speculative_use_rejection_sampling": "Drafts are sampled, and refused with the probability that keeps the "
    "output's distribution exactly the model's; more drafts hold at a temperature above 0.",
    "speculative_use_block_verification": "Drafts are checked as a block instead of one by one: the output's "
    "distribution stays exactly the model's, and longer runs hold. It turns rejection sampling on.",
    "speculative_accept_threshold_single": "Below 1, a draft is also taken where the model gives it that much "
    "probability: faster, and the output's distribution is no longer the model's.",
    "speculative_accept_threshold_acc": "Below 1, a draft's chance is raised by that divisor: faster, and the output's "
    "distribution is no longer the model's.",
}
"""Ways to check drafts, taken from engine.args, and what each does to the output's distribution. By default a draft
is taken where it is what the model itself draws, so the distribution is the model's."""

ENVIRONMENT = {
    "SGLANG_PYSPY_DUMP_BEFORE_CRASH": "0",  # a crash should be told at once, not after minutes of dumps
    "SGLANG_CUDA_COREDUMP_BEFORE_CRASH": "0",
    "SGLANG_ENABLE_JIT_DEEPGEMM": "0",  # it has no kernels for sm_12x, and compiles for minutes elsewhere
    "SGLANG_JIT_DEEPGEMM_PRECOMPILE": "0",
    "SGLANG_DSV4_FP4_DEQUANT": "0",  # 1 would turn the MXFP4 experts into FP8
    "HUMMING_COMPILER": "nvrtc",  # seconds a kernel, and no compiler needed on the machine
    "HF_HUB_OFFLINE": "1",  # the model is on disk: nothing is fetched behind the person's back
    "PYTHONUNBUFFERED": "1",
}

SPARK_ENVIRONMENT = {
    "MAX_JOBS": "1",  # what still compiles beside a loaded model has one compiler; `prepare` may have more
}


def profile(settings: Settings, machine: Machine, model: ModelRef) -> Profile:
    """Arguments for this machine and this checkpoint, and which optimizations it leaves nothing to do."""
    found = checkpoint.read(model.path)
    given = settings.engine.args or {}
    seed = (SEED_NOTE,) if settings.sampling.seed is not None and not given.get(SEED_HEEDED) else ()
    return Profile(
        args=arguments(lines(machine, found)),
        environment={**ENVIRONMENT, **(SPARK_ENVIRONMENT if machine.spark else {}), **kernel_cache.environment()},
        options={"evict": True} if machine.spark else {},  # see engine/eviction.py
        unavailable=unavailable(found),
        linger_s=LINGER_S,
        notes=(*(f"{name}: {OPTIONS[name]}" for name in given if name in OPTIONS), *seed),
    )


def lines(machine: Machine, found: Checkpoint | None) -> tuple[Line, ...]:
    """The table for this machine and model."""
    hybrid = found is not None and found.hybrid
    chip = SPARK if machine.spark else tuple(line for line in GENERIC if hybrid or line.name not in DENSE_GENERIC)
    return (*ONE_PERSON, *chip, *(HYBRID if hybrid else ()))


def baseline(machine: Machine, found: Checkpoint | None) -> dict[str, Any]:
    """The published baseline for comparison: FlashInfer's MXFP4 experts, 32-bit logits, no speculation."""
    return arguments(lines(machine, found)) | {
        "moe_runner_backend": "flashinfer_mxfp4", "enable_fp32_lm_head": True, "speculative_algorithm": None,
    }  # fmt: skip


def arguments(table: Iterable[Line]) -> dict[str, Any]:
    return {line.name: line.value for line in table}


def unavailable(found: Checkpoint | None) -> dict[str, str]:
    """Optimization -> why this checkpoint leaves it nothing to do."""
    if found is None:
        return {}
    reasons = {}
    if not found.experts:
        reasons["humming"] = "this model has no mixture of experts"
    elif not found.mxfp4_experts:
        reasons["humming"] = "this model's experts are not MXFP4 beside FP8 layers, the form that Humming takes here"
    if found.tied_head:
        reasons["fp8_head"] = "this model's output layer is tied to its embedding, which is read row by row"
    if not found.draft_layers:
        reasons["mtp"] = "this model has no multi-token-prediction layers of its own"
    elif found.architecture and found.architecture not in DRAFTED:
        reasons["mtp"] = f"SGLang has no draft class for {found.architecture}"
    return reasons
