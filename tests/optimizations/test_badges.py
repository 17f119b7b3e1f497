"""Badges: judged by what the engine saw, never by what was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.driver.board import failed, stopped
from spark_chat.engine.protocol import Proof
from spark_chat.lab.figures import badge_json
from spark_chat.machine import Gpu, Machine
from spark_chat.meters.numbers import Counters
from spark_chat.optimizations.fp8_head import SWITCH
from spark_chat.optimizations.judge import not_running, starting
from spark_chat.optimizations.optimization import Badge, Optimization, State
from spark_chat.optimizations.table import OPTIMIZATIONS, optimization
from spark_chat.settings.schema import OptimizationsSection, Settings

CPU = Machine(architecture="x86_64", cpu="A CPU", cores=2, memory_bytes=2**33, gpu=None, spark=False)
SPARK = replace(CPU, architecture="aarch64", gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True)
HOPPER = replace(CPU, gpu=Gpu("NVIDIA H200", (9, 0)))

proofs = st.one_of(
    st.none(),
    st.builds(
        Proof,
        active=st.sampled_from([True, False, None]),
        kind=st.sampled_from(["", "MTP", "n-gram"]),
        awaits_draft=st.booleans(),
        reason=st.sampled_from(["", "The layer has no scales."]),
    ),
)
counters = st.builds(
    Counters,
    tokens=st.integers(0, 500),
    verify_steps=st.integers(0, 200),
    accepted_drafts=st.integers(0, 200),
    proposed_drafts=st.one_of(st.none(), st.integers(0, 400)),
    accept_length=st.one_of(st.none(), st.floats(1, 5)),
)


@given(st.sampled_from(OPTIMIZATIONS), st.booleans(), st.sampled_from([None, "needs a GPU"]), proofs, counters)
def test_the_rules_of_every_badge(
    item: Optimization, requested: bool, unavailable: str | None, proof: Proof | None, counted: Counters
) -> None:
    badge = item.judge(requested, unavailable, proof)
    seen = proof is not None and proof.active is True
    if badge.state is State.ACTIVE:
        assert requested and seen and unavailable is None
        assert item.name != "mtp" or not (proof and proof.awaits_draft), "no draft was counted"
    elif badge.state is State.STARTING:
        assert requested and seen and unavailable is None and proof and proof.awaits_draft and badge.word
    elif badge.state is State.OFF:
        assert not requested and not seen and unavailable is None
    elif badge.state is State.UNAVAILABLE:
        assert badge.reason == unavailable and not seen
    else:
        assert badge.state is State.FAILED and badge.reason.endswith(".")
        assert requested != seen or unavailable is not None
    after = item.watch(badge, counted)
    if after.state is State.ACTIVE and badge.state is not State.ACTIVE:
        assert badge.state is State.STARTING and (counted.proposed_drafts or counted.accepted_drafts)
    assert item.watch(after, counted) == after


@pytest.mark.parametrize(
    ("proof", "said"),
    [
        (None, "The engine gave no proof of Humming."),
        (Proof(active=False), "The engine does not run Humming and gave no reason."),
        (Proof(active=None), "The engine could not tell whether Humming is at work."),
        (Proof(active=False, reason="Layer 3 runs Fp8MoEMethod."), "Layer 3 runs Fp8MoEMethod."),
    ],
)
def test_asked_for_and_not_seen_fails_with_the_reason(proof: Proof | None, said: str) -> None:
    badge = optimization("humming").judge(True, None, proof)
    assert (badge.state, badge.reason) == (State.FAILED, said)


def test_off_means_off() -> None:
    badge = optimization("fp8_head").judge(False, None, Proof(active=True))
    assert (badge.state, badge.reason) == (State.FAILED, "FP8 head was switched off, yet the engine runs it.")


def test_unavailable_wins_over_off_and_keeps_what_was_read() -> None:
    proof = Proof(active=False, reason="llama.cpp has none.", facts={"head_type": "Q8_0"})
    badge = optimization("fp8_head").judge(False, "needs SGLang on an NVIDIA GPU", proof)
    assert (badge.state, badge.reason) == (State.UNAVAILABLE, "needs SGLang on an NVIDIA GPU")
    assert badge.proof == {"active": False, "head_type": "Q8_0"}


@pytest.mark.parametrize("name", ["humming", "fp8_head"])
def test_what_needs_sglang_says_so(name: str) -> None:
    item = optimization(name)
    assert item.unavailable("llama.cpp", SPARK) == "needs SGLang on an NVIDIA GPU"
    assert item.unavailable("sglang", CPU) == "needs SGLang on an NVIDIA GPU"
    assert item.unavailable("sglang", SPARK) is None


def test_only_the_models_own_block_is_called_mtp() -> None:
    mtp = optimization("mtp")
    assert mtp.judge(True, None, Proof(active=True, kind="MTP")).label == "MTP"
    assert mtp.judge(True, None, Proof(active=True, kind="n-gram")).label == "n-gram"
    assert mtp.judge(True, None, Proof(active=True)).label == "drafts"
    failed = mtp.judge(True, None, Proof(active=False, kind="n-gram", reason="No room."))
    assert (failed.label, failed.state) == ("n-gram", State.FAILED)


def active(kind: str) -> Badge:
    return optimization("mtp").judge(True, None, Proof(active=True, kind=kind))


def watched(kind: str, **counted: Any) -> Badge:
    return optimization("mtp").watch(active(kind), Counters(**counted))


def test_useless_drafts_of_its_own_are_a_warning() -> None:
    useless = {"tokens": 65, "verify_steps": 64, "accepted_drafts": 1, "proposed_drafts": 192, "accept_length": 1.01}
    badge = watched("MTP", **useless)
    assert badge.state is State.ACTIVE
    assert "1.01 over 64 verify steps" in badge.warning and "target's head" in badge.warning
    assert watched("MTP", **{**useless, "verify_steps": 63}).warning == ""
    assert watched("MTP", **{**useless, "accept_length": 1.05}).warning == ""


def test_ngrams_only_note_that_little_repeats() -> None:
    badge = watched("n-gram", tokens=200, verify_steps=199, accept_length=1.0, proposed_drafts=0)
    assert (badge.state, badge.warning) == (State.ACTIVE, "")
    assert badge.reason.endswith("no draft was made so far: nothing repeats yet.")
    refused = watched("n-gram", tokens=200, verify_steps=197, accepted_drafts=2, accept_length=1.01, proposed_drafts=9)
    assert refused.reason.startswith("Of 9 draft tokens 2 held: little repeats")
    assert watched("n-gram", tokens=9, verify_steps=8, accept_length=1.0, proposed_drafts=9).reason == ""


@pytest.mark.parametrize("kind", ["n-gram", "MTP"])
def test_no_green_before_the_first_draft_was_counted(kind: str) -> None:
    mtp = optimization("mtp")
    loaded = mtp.judge(True, None, Proof(active=True, awaits_draft=True, kind=kind))
    assert (loaded.state, loaded.word, loaded.label) == (State.STARTING, "no draft yet", kind)
    assert "no draft was made so far" in loaded.reason
    still = mtp.watch(loaded, Counters(tokens=40, verify_steps=39, proposed_drafts=0, accept_length=1.0))
    assert (still.state, still.word, still.counters["proposed_drafts"]) == (State.STARTING, "no draft yet", 0)
    assert badge_json(still)["kind"] == kind and badge_json(still)["state"] == "STARTING"
    seen = mtp.watch(still, Counters(tokens=41, verify_steps=39, proposed_drafts=3, accept_length=1.02))
    assert (seen.state, seen.word, seen.reason) == (State.ACTIVE, "", "")
    gone = not_running(loaded, "The engine is not running.")
    assert (gone.state, gone.word) == (State.FAILED, "")


def test_a_draft_that_is_to_come_is_nothing_that_strict_refuses() -> None:
    loaded = optimization("mtp").judge(True, None, Proof(active=True, awaits_draft=True, kind="n-gram"))
    assert failed((loaded,)) == ""
    assert stopped((loaded,))[0].state is State.FAILED


def test_mtp_that_drafts_nothing_has_failed() -> None:
    assert watched("MTP", tokens=64).state is State.FAILED
    none = watched("MTP", tokens=65, verify_steps=64, proposed_drafts=0, accept_length=1.0)
    assert none.state is State.FAILED and "64 verify steps" in none.reason
    assert watched("MTP", tokens=63).state is State.ACTIVE


def test_drafts_where_it_is_off_have_failed() -> None:
    off = optimization("mtp").judge(False, None, Proof(active=False, kind="n-gram", reason="It was not asked for."))
    assert off.state is State.OFF
    after = optimization("mtp").watch(off, Counters(tokens=10, accepted_drafts=3, proposed_drafts=4))
    assert after.state is State.FAILED and "4 drafts" in after.reason
    assert optimization("mtp").watch(off, Counters(tokens=10, verify_steps=9)).state is State.OFF


def test_before_and_after_the_engine() -> None:
    assert starting("mtp", "MTP", True, None).state is State.STARTING
    assert starting("mtp", "MTP", False, None).state is State.OFF
    assert starting("humming", "Humming", True, "needs a GPU").state is State.UNAVAILABLE
    gone = not_running(active("MTP"), "The engine is not running.")
    assert (gone.state, gone.reason) == (State.FAILED, "The engine is not running.")
    assert not_running(starting("mtp", "MTP", False, None), "It is gone.").state is State.OFF


def test_pending_says_what_a_restart_makes_of_it() -> None:
    assert active("MTP").with_pending(False).pending == "off at restart"
    assert active("MTP").with_pending(True).pending is None
    assert starting("mtp", "MTP", False, None).with_pending(True).pending == "on at restart"


def test_marks_tell_the_states_apart_without_colour() -> None:
    assert len({state.mark for state in State}) == len(State)


def set_by(name: str, machine: Machine = SPARK, engine: str = "sglang", **values: Any) -> tuple[dict[str, Any], Any]:
    settings = Settings(optimizations=replace(OptimizationsSection(), **values))
    return optimization(name).configure(engine, settings, machine)


@pytest.mark.parametrize("item", OPTIMIZATIONS, ids=lambda item: item.name)
def test_nothing_is_set_on_llama_cpp(item: Optimization) -> None:
    assert item.configure("llama.cpp", Settings(), CPU) == ({}, {})


def test_humming_off_names_its_stand_in_for_each_chip() -> None:
    assert set_by("humming")[0] == {"moe_runner_backend": "humming"}
    assert set_by("humming", humming=False)[0] == {"moe_runner_backend": "flashinfer_mxfp4"}
    assert set_by("humming", machine=HOPPER, humming=False)[0] == {"moe_runner_backend": "marlin"}


def test_the_heads_switch_is_always_set() -> None:
    assert set_by("fp8_head") == ({"enable_fp32_lm_head": False}, {SWITCH: "1"})
    assert set_by("fp8_head", fp8_head=False) == ({"enable_fp32_lm_head": True}, {SWITCH: "0"})
    assert set_by("fp8_head", machine=HOPPER, fp8_head=False) == ({"enable_fp32_lm_head": False}, {SWITCH: "0"})
    assert set_by("fp8_head", machine=HOPPER, fp8_head=False, head="fp32")[0] == {"enable_fp32_lm_head": True}


@pytest.mark.parametrize("steps", range(1, 8))
def test_drafts_are_one_less_than_what_a_step_checks(steps: int) -> None:
    args, _ = set_by("mtp", draft_steps=steps)
    assert args["speculative_num_steps"] == steps
    assert args["speculative_num_draft_tokens"] == steps + 1
    assert args["speculative_eagle_topk"] == 1


def test_every_optimization_has_a_setting_and_published_figures() -> None:
    for item in OPTIMIZATIONS:
        assert hasattr(OptimizationsSection(), item.name)
        assert item.published and all("not measured here" in figure.source for figure in item.published)
        assert item.costs.endswith(".") and item.gains.endswith(".")
