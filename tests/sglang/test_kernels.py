"""The numbers of the plugin's kernels, through Triton's interpreter; that they are right and fast on a GPU is shown by
a visit to one (tests/gpu)."""

from __future__ import annotations

import pytest

from tests.sglang.conftest import Script


def test_kernels_agree_with_plain_torch(script: Script) -> None:
    worst = script("tests.sglang.kernel_numbers")
    assert len(worst) == 13
    assert max(worst.values()) < 1e-5, worst


def test_candidates_of_a_tuning_are_compiled_together(script: Script) -> None:
    found = script("tests.sglang.compile_together")
    assert found["counts"] == [3, 3] and found["apart"], "all before the first is timed, none of them twice"
    assert found["broken"] == "CompilationError", "one that can't be compiled says so when its turn comes"


def test_quantising_keeps_three_bits_of_each_weight() -> None:
    torch = pytest.importorskip("torch", reason="quantising needs torch (pip install '.[spark]')")
    from spark_chat.sglang_plugin import fp8_head_kernel as kernel

    weight = torch.randn(300, 64)
    weight[7] = 0
    quantised, scale = kernel.quantise(weight)
    back = quantised.float() * scale[:, None]
    assert quantised.dtype == torch.float8_e4m3fn and scale.shape == (300,) and scale[7] == 1 and not back[7].any()
    assert ((back - weight).abs() <= weight.abs() / 16 + scale[:, None] / 512).all()
    assert 0.01 < kernel.quantisation_error(weight[:100], quantised, scale) < 0.04
