"""What the scheduler reports becomes a proof with a sentence; what is missing or does not match is never green."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from spark_chat.engine.proofs import proofs

LAYER = {"layer": "model.layers.1.mlp.experts", "method": "Mxfp4HummingMoEMethod", "backend": "humming",
         "runner": "HummingRunnerCore", "prepared": True, "clamp": 4.0}  # fmt: skip
HOOK = {"target": "somewhere", "applied": True, "calls": 3}
REPORT: dict[str, Any] = {
    "refused": None, "hooks": {"fp8 head": HOOK, "humming clamp": HOOK}, "experts": [LAYER, LAYER | {"clamp": None}],
    "head": {"method": "SparkChatFp8HeadMethod", "dtype": "float8_e4m3fn", "shape": [4096, 1024],
             "scale_dtype": "float32", "scale_shape": [4096], "bytes": 4_210_688, "kernel": "Triton",
             "decision": {"swapped": True, "reason": ""}},
    "draft": {"worker": "EAGLEWorkerV2", "class": "BailingMoeForCausalLMNextN", "head_is_target": True, "steps": 3,
              "topk": 1, "draft_tokens": 4, "adaptive": False, "experts": [LAYER], "sharing": {}},
    "graphs": {"target_verify": 1.5, "decode": 0.0},
}  # fmt: skip
ALL = {"humming": True, "fp8_head": True, "mtp": True}


def changed(**paths: Any) -> dict[str, Any]:
    """The report with values put in; `a__b` goes into report["a"]["b"]."""
    found = copy.deepcopy(REPORT)
    for path, value in paths.items():
        *way, last = path.split("__")
        place: Any = found
        for part in way:
            place = place[int(part) if part.isdigit() else part]
        place[last] = value
    return found


def test_all_three_are_proven() -> None:
    found = proofs(REPORT, ALL)
    assert [found[name].active for name in ALL] == [True, True, True]
    assert found["humming"].facts["clamped_layers"] == 1 and found["mtp"].kind == "MTP"
    assert "2 of 2" in found["humming"].reason and "clamp" in found["humming"].reason


@pytest.mark.parametrize("report", [None, {}, {"error": "KeyError: 'x'"}, changed(refused="Another version.")])
def test_without_a_report_nothing_is_proven(report: dict[str, Any] | None) -> None:
    found = proofs(report, ALL)
    assert all(proof.active is None and proof.reason for proof in found.values())


@pytest.mark.parametrize(
    "change",
    [
        {"experts__0__method": "Fp8MoEMethod"}, {"experts__1__runner": ""}, {"experts__0__prepared": False},
        {"experts__0__backend": ""}, {"hooks__humming clamp": HOOK | {"calls": 0}},
        {"hooks__humming clamp": HOOK | {"applied": False}}, {"hooks": {}},
    ],
)  # fmt: skip
def test_humming_with_something_amiss_is_no_proof(change: dict[str, Any]) -> None:
    proof = proofs(changed(**change), ALL)["humming"]
    assert proof.active is False and not proof.unavailable and proof.reason


@pytest.mark.parametrize(
    "change",
    [{"head__dtype": "bfloat16"}, {"head__method": "Fp8LinearMethod"}, {"head__scale_shape": [1]},
     {"head__scale_dtype": "bfloat16"}],
)  # fmt: skip
def test_a_head_that_is_not_as_it_should_be_is_no_proof(change: dict[str, Any]) -> None:
    assert proofs(changed(**change), ALL)["fp8_head"].active is False


def test_a_tied_head_is_nothing_to_work_on() -> None:
    report = changed(head__dtype="bfloat16", head__decision={"swapped": False, "reason": "the output layer is tied"})
    proof = proofs(report, ALL)["fp8_head"]
    assert proof.unavailable and proof.reason == "The output layer is tied."


@pytest.mark.parametrize("change", [{"draft": None}, {"draft__head_is_target": False}, {"draft__class": ""}])
def test_a_draft_that_can_not_be_trusted_is_no_proof(change: dict[str, Any]) -> None:
    assert proofs(changed(**change), ALL)["mtp"].active is False


def test_a_tied_heads_weight_is_all_there_is_to_share() -> None:
    assert proofs(changed(draft__head_is_target=False, draft__tied=True), ALL)["mtp"].active is True


def test_adaptive_steps_that_sglang_refuses_are_said() -> None:
    proof = proofs(changed(draft__adaptive_refused="enable_pdmux=True is not supported"), ALL)["mtp"]
    assert proof.active and "drafts 3 tokens" in proof.reason and "enable_pdmux" in proof.reason


def test_a_model_without_experts_has_nothing_for_humming() -> None:
    assert proofs(changed(experts=[]), ALL)["humming"].unavailable
