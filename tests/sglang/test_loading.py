"""SGLang's own loader and model classes, with the plugin's hooks: the oracle fits, and every hook finds its place."""

from __future__ import annotations

from pathlib import Path

from tests.gpu.oracle_plan import LIMIT
from tests.sglang.conftest import Script

ON = {
    "SGLANG_ENABLE_FP8_LM_HEAD": "1", "SPARK_CHAT_COUNTERS": "1", "SPARK_CHAT_PROGRESS": "/nowhere",
    "SPARK_CHAT_COMPILE_THREADS": "2",
}  # fmt: skip
MAY_STAY = ("k_scale", "v_scale")


def test_the_oracle_loads_and_its_head_is_quantised(script: Script, oracle: Path) -> None:
    found = script("tests.sglang.load_oracle", str(oracle), "target", **ON)
    assert found["class"] == "BailingMoeV3ForCausalLM"
    assert [name for name in found["unloaded"] if not name.endswith(MAY_STAY)] == []
    assert found["decision"]["swapped"] is True
    head = found["head"]
    assert (head["method"], head["dtype"], head["shape"]) == ("SparkChatFp8HeadMethod", "float8_e4m3fn", [4096, 1024])
    assert (head["scale_dtype"], head["scale_shape"]) == ("float32", [4096])
    assert found["logits"] == [3, 4096]
    assert [(layer["method"], layer["clamp"]) for layer in found["experts"]] == [("Mxfp4HummingMoEMethod", LIMIT)]


def test_marlin_honours_the_clamp_too(script: Script, oracle: Path) -> None:
    found = script("tests.sglang.load_oracle", str(oracle), "target", "marlin", **ON)
    assert [(layer["method"], layer["clamp"]) for layer in found["experts"]] == [("Mxfp4MarlinMoEMethod", LIMIT)]
    assert found["clamped"] and found["hooks"]["marlin clamp: limits"]["calls"] == 1
    plain = script("tests.sglang.load_oracle", str(oracle), "target", "marlin", **ON, SPARK_CHAT_EXPERT_CLAMP="0")
    assert plain["clamped"] is False and "marlin clamp" not in plain["hooks"]


def test_every_hook_is_applied(script: Script, oracle: Path) -> None:
    hooks = script("tests.sglang.load_oracle", str(oracle), "target", **ON)["hooks"]
    assert {name for name, hook in hooks.items() if not hook["applied"]} == set()
    assert {"fp8 head", "shared head", "humming clamp", "counters", "probe", "live probe"} <= set(hooks)
    assert hooks["fp8 head"]["calls"] == 1 and hooks["humming clamp: late"]["calls"] == 1


def test_the_draft_loads_and_learns_to_share(script: Script, oracle: Path) -> None:
    found = script("tests.sglang.load_oracle", str(oracle), "draft", **ON)
    assert found["class"] == "BailingMoeForCausalLMNextN"
    left = [name for name in found["unloaded"] if not name.endswith((*MAY_STAY, "word_embeddings.weight"))]
    assert left == ["lm_head.weight"]
    assert found["lacked"] and found["taught"] == "shared by spark-chat" and found["shared"]
    assert found["decision"]["swapped"] is False
    assert [layer["clamp"] for layer in found["experts"]] == [None]


def test_off_means_off(script: Script) -> None:
    off = {"SGLANG_ENABLE_FP8_LM_HEAD": "0"}
    found = script("tests.sglang.plugin_report", **off)
    assert found["hooks"] == {}


def test_a_version_that_was_not_tested_gets_no_patch_and_says_so(script: Script) -> None:
    found = script("tests.sglang.plugin_report", "9.9.9", **ON)
    assert set(found["hooks"]) == {"probe", "live probe"}
    assert "9.9.9" in found["refused"] and found["logged"]


def test_draft_classes_are_judged_by_their_own_code(script: Script) -> None:
    found = script("tests.sglang.plugin_report", "drafts", **ON)["drafts"]
    assert found.pop("nemotron_h_mtp.NemotronHForCausalLMMTP") == "the class shares the head by itself"
    assert set(found.values()) == {"shared by spark-chat"} and len(found) == 5
