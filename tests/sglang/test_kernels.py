"""The numbers of the plugin's kernels, through Triton's interpreter; that they are right and fast on a GPU is shown by
a visit to one (tests/gpu)."""

from __future__ import annotations

from types import SimpleNamespace

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


@pytest.mark.parametrize("architecture", [90, 121])
def test_the_streaming_kernel_builds_and_touches_each_weight_once(script: Script, architecture: int) -> None:
    found = script("tests.sglang.kernel_builds", str(architecture))
    assert found["machine_code"] > 1000
    # A tile of 16 x 1024 bytes is 4 loads of 16 bytes for each of 256 threads: before the loop, and in it.
    assert (found["loads"], found["conversions"], found["products"]) == (8, 32, 8)


@pytest.mark.parametrize("vocabulary", [1, 15, 16, 17, 200, 4_224, 4_225, 32_000, 151_936, 157_184])
@pytest.mark.parametrize("programs", [1, 48, 264])
def test_each_row_of_the_vocabulary_is_some_programs_once(vocabulary: int, programs: int) -> None:
    pytest.importorskip("triton", reason="kernels need Triton (pip install '.[spark]')")
    from spark_chat.sglang_plugin.fp8_head_triton import TILE, portions

    used, whole, share = portions(vocabulary, programs)
    assert 1 <= used <= programs and 0 <= share <= TILE and whole % (used * TILE) == 0
    rows = [*range(whole), *(whole + one * share + row for one in range(used) for row in range(share))]
    assert [row for row in rows if row < vocabulary] == list(range(vocabulary))


def test_what_the_streaming_kernel_multiplies_is_exact() -> None:
    torch = pytest.importorskip("torch", reason="float types need torch (pip install '.[spark]')")
    codes = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn)
    finite = codes[~codes.float().isnan()]
    assert len(finite) == 254 and torch.equal(finite.half().float(), finite.float())
    states = torch.randn(8, 512) * torch.exp2(torch.randint(-60, 1, (8, 512)).float())
    states = (states * torch.exp2(torch.tensor([-90.0, -40, -10, 0, 1, 20, 60, 100]))[:, None]).bfloat16().double()
    largest = states.abs().amax(1, keepdim=True)
    power = torch.exp2(14 - torch.floor(torch.log2(largest)))
    error = ((states * power).half().double() / power - states).abs() / largest
    assert error.max() <= 2.0**-39 and not error[states.abs() >= largest * 2.0**-29].any()


def test_the_streaming_kernel_is_used_only_where_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="tensors need torch (pip install '.[spark]')")
    from spark_chat.sglang_plugin import fp8_head_kernel as kernel

    monkeypatch.setattr(kernel, "_capability", lambda device: (9, 0))
    weight = torch.empty(64, 1024, dtype=torch.float8_e4m3fn)
    x = torch.zeros(4, 1024, dtype=torch.bfloat16)
    if weight.data_ptr() % 128 == 0:
        assert kernel.unfit(x, weight) == "" and kernel.unfit(x.half(), weight) == ""
    assert "rows" in kernel.unfit(torch.zeros(9, 1024, dtype=torch.bfloat16), weight)
    assert "float32" in kernel.unfit(x.float(), weight)
    assert "1000" in kernel.unfit(x[:, :1000].contiguous(), weight[:, :1000].contiguous())
    assert "aligned" in kernel.unfit(x.flatten()[1:1025].view(1, 1024), weight)
    monkeypatch.setattr(kernel, "_capability", lambda device: (8, 9))
    assert "sm_90" in kernel.unfit(x, weight)
    monkeypatch.setattr(kernel, "stream_off", "it failed")
    assert kernel.unfit(x, weight) == "it failed"


def test_where_the_streaming_kernel_fails_its_check_the_plain_ones_take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="types need torch (pip install '.[spark]')")
    from spark_chat.sglang_plugin import fp8_head_kernel as kernel

    outcomes: list[float | Exception] = []

    def difference(*_args: object) -> float:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    weight = SimpleNamespace(is_cuda=True)
    monkeypatch.setattr(kernel, "_difference", difference)
    for first in (ValueError("no such instruction"), 0.5, float("nan")):
        monkeypatch.setattr(kernel, "stream_off", "")
        outcomes[:] = [first, 2e-6]
        assert kernel.warm_and_check(weight, None, torch.bfloat16) == 2e-6
        assert "failed its check" in kernel.stream_off and (str(first) in kernel.stream_off or first == 0.5)
    monkeypatch.setattr(kernel, "stream_off", "")
    outcomes[:] = [0.5, 0.25]
    with pytest.raises(RuntimeError, match=r"off by 2\.50e-01"):
        kernel.warm_and_check(weight, None, torch.bfloat16)
    monkeypatch.setattr(kernel, "stream_off", "")
    outcomes[:] = [1e-6]
    assert kernel.warm_and_check(weight, None, torch.bfloat16) == 1e-6 and not kernel.stream_off


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
