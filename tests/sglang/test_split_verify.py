"""The verify step with the prefix split: its kernel's numbers, and when it is turned on."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from spark_chat.sglang_plugin import split_verify
from tests.sglang.conftest import Script


def test_the_kernel_agrees_with_plain_torch(script: Script) -> None:
    found = script("tests.sglang.split_verify_numbers")
    assert found.pop("wrong") > split_verify.ROUNDING, "a wrong order of keys is found out"
    assert len(found) == 7 and max(found.values()) < split_verify.ROUNDING / 2, found


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the check on the GPU says."""
    found: dict[str, Any] = {"error": 0.0}

    def difference(*_shape: Any) -> float:
        if isinstance(found["error"], Exception):
            raise found["error"]
        return float(found["error"])

    monkeypatch.setattr(split_verify, "difference", difference)
    monkeypatch.setattr(split_verify, "decision", "")
    torch = SimpleNamespace(version=SimpleNamespace(cuda="13.0"))
    verify_mla = SimpleNamespace(_BLOCK_CONFIG={})
    attention = ModuleType("sglang.kernels.ops.attention")
    attention.verify_mla = verify_mla  # type: ignore[attr-defined]
    for name in ("sglang", "sglang.kernels", "sglang.kernels.ops"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "sglang.kernels.ops.attention", attention)
    monkeypatch.setitem(sys.modules, "torch", torch)
    return found | {"blocks": verify_mla._BLOCK_CONFIG, "torch": torch, "say": found}


def started(**about: Any) -> bool:
    """Whether a backend made with these properties splits."""
    backend = SimpleNamespace(
        **({"use_mla": True, "topk": 1, "use_verify_shared_kv": False, "num_head": 32, "num_draft_tokens": 4} | about)
    )
    config = SimpleNamespace(kv_lora_rank=512, qk_rope_head_dim=64)
    split_verify._after_init(None, backend, SimpleNamespace(model_config=config, dtype="bfloat16"))
    return bool(backend.use_verify_shared_kv)


def test_a_backend_whose_kernel_was_right_splits(checked: dict[str, Any]) -> None:
    assert started()
    assert split_verify.decision.startswith("on") and checked["blocks"] == {576: split_verify.BLOCKS}


@pytest.mark.parametrize("error", [0.5, float("inf"), ValueError("out of shared memory")])
def test_one_whose_kernel_was_wrong_stays_as_it_was_and_says_so(checked: dict[str, Any], error: object) -> None:
    checked["say"]["error"] = error
    assert not started()
    assert split_verify.decision.startswith("off: ")
    checked["say"]["error"] = 0.0
    assert not started(), "nothing turns it on behind a failed check"


@pytest.mark.parametrize("about", [{"use_mla": False}, {"topk": 4}, {"topk": 0}])
def test_other_shapes_are_left_alone(checked: dict[str, Any], about: dict[str, Any]) -> None:
    assert not started(**about) and split_verify.decision == ""


def test_only_an_nvidia_gpu(checked: dict[str, Any]) -> None:
    checked["torch"].version.cuda = None
    assert not started() and "NVIDIA" in split_verify.decision
