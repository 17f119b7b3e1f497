"""Builds nvcc modules at once and ahead of the engines that will wait for them: Marlin's experts, sampling.

SGLang builds Marlin's two large ones when a layer first runs, one after the other, minutes each on one core. Same
cache, same key, same lock: an engine that comes to them meanwhile waits for this build and takes it.
"""

from __future__ import annotations

import time
from functools import partial

SPLIT = {"NVCC_APPEND_FLAGS": "--split-compile=0"}
"""nvcc optimises a module's kernels on all cores; the cache's key does not see it."""


def main() -> None:
    import sglang  # noqa: F401 - it points FlashInfer's cache to its own folder
    import torch
    from flashinfer.sampling import get_sampling_module
    from sglang.kernels.jit.utils.compile import parallel_compile
    from sglang.kernels.ops.moe import moe_align_single_token, moe_topk_sum, moe_wna16_marlin
    from sglang.kernels.ops.quantization import gptq_marlin_repack

    began = time.monotonic()
    gemm, sorted_ids, counted = moe_wna16_marlin._jit_moe_wna16_marlin_module, True, True
    parallel_compile(
        [
            gptq_marlin_repack._jit_gptq_marlin_repack_module,
            partial(gemm, torch.bfloat16, False, False, sorted_ids, False, counted),
            partial(gemm, torch.bfloat16, False, False, sorted_ids, True, counted),
            moe_topk_sum._jit_topk_sum_module,
            partial(moe_align_single_token._jit_align_single_token_module, True),
            get_sampling_module,
        ]
    )
    print(f"built in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
