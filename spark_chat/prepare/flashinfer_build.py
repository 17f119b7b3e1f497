"""Compiles FlashInfer's fused experts: `python -m spark_chat.prepare.flashinfer_build MAJOR MINOR`. No GPU is used, and
no weight is read. ninja's own lines on stdout say how far it is; what is compiled already is not compiled again."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str]) -> int:
    major, minor = int(arguments[0]), int(arguments[1])
    os.environ["FLASHINFER_CUDA_ARCH_LIST"] = f"{major}.{minor}a"
    folder = os.environ.get("SGLANG_CACHE_DIR")
    if folder:  # as SGLang itself sets it when it is imported
        os.environ["FLASHINFER_WORKSPACE_BASE"] = os.path.expanduser(folder)  # noqa: PTH111
    os.environ["FLASHINFER_JIT_VERBOSE"] = "1"
    from importlib import import_module

    fused = import_module("flashinfer.jit.fused_moe")
    make = getattr(fused, f"gen_cutlass_fused_moe_sm{major}{0 if major == 12 else minor}_module")
    spec = make()
    spec.build()
    print(f"built {spec.get_library_path()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
