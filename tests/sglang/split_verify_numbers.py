"""In a process of its own, on the CPU through Triton's interpreter: SGLang's split verify against plain torch."""

from __future__ import annotations

import json
import os

os.environ["TRITON_INTERPRET"] = "1"


def main() -> None:
    import torch

    from spark_chat.sglang_plugin import split_verify

    half = torch.float16  # the interpreter multiplies no bf16
    shapes = {"four": (8, 64, 16, 4), "odd": (5, 64, 16, 3), "one": (4, 64, 16, 1), "many": (4, 32, 16, 9)}
    cases = {name: (*shape, half, "cpu", 100) for name, shape in shapes.items()}
    cases |= {f"behind {prefix}": (4, 32, 16, 4, half, "cpu", prefix) for prefix in split_verify.PREFIXES}
    found = {name: split_verify.difference(*case) for name, case in cases.items()}
    right = split_verify.reference
    split_verify.reference = lambda q, keys, latent: right(q, keys.flip(0), latent)
    found["wrong"] = split_verify.difference(*cases["four"])
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
