"""In a process of its own, with a driver that claims an sm_90 chip: who compiles a tuning's candidates, and when."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from typing import Any

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["SPARK_CHAT_COMPILE_THREADS"] = "3"

import torch
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.runtime import driver


class Claimed:
    """As much of a driver as compiling asks for."""

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)


# 24 is no power of two: this candidate can't be compiled
CANDIDATES = [triton.Config({"BLOCK": block}) for block in (16, 32, 64, 24)]


@triton.autotune(configs=CANDIDATES, key=["n"], do_bench=lambda _call, quantiles: [1.0 for _ in quantiles])
@triton.jit
def doubled(source, target, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(target + at, tl.load(source + at, mask=at < n) * 2, mask=at < n)


def main() -> None:
    driver.set_active(Claimed())
    compiled: list[str] = []
    knobs.compilation.listener = lambda **_told: compiled.append(threading.current_thread().name)
    from spark_chat.sglang_plugin import parallel_compile

    x = torch.zeros(16)
    doubled.nargs = dict(zip(doubled.arg_names, (x, x, 16), strict=False))
    given: dict[str, Any] = {"grid": (1,), "warmup": False}
    counts = []
    for candidate in CANDIDATES[:2]:
        parallel_compile._bench(type(doubled)._bench, doubled, x, x, 16, config=candidate, **given)
        counts.append(len(compiled))
    try:
        kernel = doubled.fn.run(x, x, 16, **given | CANDIDATES[3].all_kwargs() | {"warmup": True})
        broken = str(kernel.metadata)  # a launch asks for it
    except Exception as error:
        broken = type(error).__name__
    main_thread = threading.main_thread().name
    print("RESULT " + json.dumps({"counts": counts, "apart": main_thread not in compiled, "broken": broken}))


if __name__ == "__main__":
    main()
