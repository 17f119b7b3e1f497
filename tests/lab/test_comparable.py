"""Two records beside each other, and which may not be."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from spark_chat.lab import compare, listing
from tests.lab.recorded import made


def test_two_records_of_one_kind() -> None:
    first, other = made(), made() | {"id": "20260103-030405-abcd"}
    for item in other["configurations"]:
        for run in item["runs"]:
            run["decode_tok_s"] *= 2
    found = compare.diff(first, other)
    assert [item["first"] for item in found] == ["mtp=off", "mtp=on"]
    assert all(item["ratio"]["median"] == pytest.approx(2) for item in found)
    lines = listing.diff_lines(first, other, found)
    assert lines[0].startswith("first  20260102") and "2.00x" in lines[-1]
    assert any("small.gguf" in line for line in listing.lines([first, other]))


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda r: [c.update(model="other.gguf") for c in r["configurations"]], "The model differs"),
        (lambda r: r["workload"].update(digest="x"), "The prompts differ"),
        (lambda r: r["sampling"].update(temperature=0.6), "The sampling differs in temperature: 0.0 and 0.6"),
        (lambda r: r["sampling"].update(seed=7), "The seeds differ: none and 7"),
        (lambda r: r.update(fixed_length=True), "fixed length"),
        (lambda r: r.update(fresh=True), "--fresh"),
        (lambda r: [c.update(counted="all runs") for c in r["configurations"]], "cold and warm"),
        (lambda r: r["workload"].update(extraction="x"), "different rules"),
        (lambda r: r["configurations"][0]["all_settings"]["engine.args"].update(
            value={"mem_fraction_static": 0.7}), "memory fraction differs"),
        (lambda r: [c["settings"].update(x=c["name"]) for c in r["configurations"]], "vary different settings"),
    ],
)  # fmt: skip
def test_records_that_are_not_comparable_are_refused_with_the_reason(change: Any, said: str) -> None:
    first = made()
    other = copy.deepcopy(first)
    change(other)
    with pytest.raises(compare.NotComparable) as told:
        compare.diff(first, other)
    assert said in str(told.value)
