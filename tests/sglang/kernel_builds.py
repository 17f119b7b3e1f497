"""In a process of its own, without a GPU: machine code of the streaming kernel, and what its PTX holds."""

from __future__ import annotations

import json
import sys


def main(architecture: int) -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.experimental.gluon._runtime import GluonASTSource

    from spark_chat.sglang_plugin.fp8_head_gluon import stream_kernel

    fixed = {"HIDDEN": 1024, "HALF": False}
    given = {"x": "*bf16", "weight": "*i32", "scale": "*fp32", "out": "*fp32"}
    types = given | dict.fromkeys(("vocabulary", "M", "whole", "share"), "i32") | dict.fromkeys(fixed, "constexpr")
    names = stream_kernel.arg_names
    source = GluonASTSource(
        stream_kernel,
        {name: types[name] for name in names},
        {(names.index(name),): value for name, value in fixed.items()},
        {(names.index(name),): [["tt.divisibility", 16]] for name in given},
    )
    options = {"num_warps": 8, "maxnreg": 128}
    made = triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=options)
    ptx = made.asm["ptx"]
    found = {
        "machine_code": len(made.asm["cubin"]),
        "loads": ptx.count("ld.global.L1::no_allocate.L2::128B.v4.b32"),
        "conversions": ptx.count("cvt.rn.f16x2.e4m3x2"),
        "products": ptx.count("mma.sync.aligned.m16n8k16"),
    }
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
