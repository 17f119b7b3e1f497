"""From --vary to configurations."""

from __future__ import annotations

import pytest

from spark_chat.lab.variation import BadVariation, axes, configurations, ladder
from spark_chat.settings.schema import Settings


def names(*varied: str, cumulative: bool = False) -> list[str]:
    return [item.name for item in configurations(Settings(), axes(varied), cumulative)]


def test_all_combinations_or_the_ladder() -> None:
    assert names() == ["as set"]
    assert names("mtp=off,on") == ["mtp=off", "mtp=on"]
    assert names("humming=off,on", "mtp=off,on") == [
        "humming=off mtp=off", "humming=off mtp=on", "humming=on mtp=off", "humming=on mtp=on",
    ]  # fmt: skip
    assert names("humming=off,on", "fp8_head=off,on", "mtp=off,on", cumulative=True) == [
        "humming=off fp8_head=off mtp=off", "humming=on fp8_head=off mtp=off", "humming=on fp8_head=on mtp=off",
        "humming=on fp8_head=on mtp=on",
    ]  # fmt: skip


def test_values_reach_the_settings() -> None:
    found = configurations(Settings(), axes(["draft-steps=1,auto", "engine.args.n_batch=256,512"]))
    assert [(item.settings.optimizations.draft_steps, item.settings.engine.args["n_batch"]) for item in found] == [
        (1, 256), (1, 512), ("auto", 256), ("auto", 512),
    ]  # fmt: skip
    assert found[0].changes == {"optimizations.draft_steps": 1, "engine.args.n_batch": 256}
    assert Settings().engine.args == {}


@pytest.mark.parametrize(
    "varied, said",
    [
        (["hummming=off,on"], "Toggles are humming, fp8_head, mtp"),
        (["turbo=off,on"], "There is no toggle turbo. Toggles are humming, fp8_head, mtp"),
        (["=off,on"], "There is no toggle without a name"),
        (["mtp"], "needs values: mtp=off,on"),
        (["mtp=off,"], "needs values"),
        (["mtp=off,maybe"], 'optimizations.mtp is "maybe"'),
        (["mtp=on,1"], "the same value twice"),
        (["mtp=off,on", "optimizations.mtp=on,off"], "varied twice"),
        (["temperature=0,1"], "different sampling are not comparable"),
        (["theme=a,b"], "does not bear on speed"),
        (["model=a,b"], "bench diff"),
        (["engine.args=1,2"], "Name one entry"),
        (["draft_steps=1,2,3,4,5,6,7", "context=1,2,3,4,5,6,7,8,9,10"], "70 configurations; 64 are the most"),
    ],
)
def test_what_cannot_be_varied(varied: list[str], said: str) -> None:
    with pytest.raises(BadVariation) as told:
        configurations(Settings(), axes(varied))
    assert said in str(told.value)


def test_the_ladder_is_found_among_all_combinations() -> None:
    varied = axes(["humming=off,on", "mtp=off,on"])
    changes = [item.changes for item in configurations(Settings(), varied)]
    assert ladder(changes, [item.key for item in varied]) == [
        (0, ""), (2, "optimizations.humming"), (3, "optimizations.mtp")
    ]  # fmt: skip
    assert ladder(changes[:2], [item.key for item in varied]) == [(0, ""), (1, "optimizations.mtp")]
    assert ladder(changes[:1], []) == []
