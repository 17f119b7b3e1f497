"""The table of a start's stages."""

from __future__ import annotations

from spark_chat.driver.starts import Start
from spark_chat.headless import start_table
from spark_chat.meters.session import Stage


def start(key: str, cold: bool, **stages: float) -> Start:
    return Start(key, "sglang", "Ling-3.0-flash", cold, 0.0, tuple(Stage(*item) for item in stages.items()))


def test_cold_and_warm_stand_side_by_side() -> None:
    noted = [start("a", False, start=30, weights=62.25), start("a", True, kernels=600, start=31, weights=300)]
    lines = start_table.as_lines(noted)
    assert lines[0].split() == ["Ling-3.0-flash", "on", "sglang", "cold", "warm"]
    rows = {line[: start_table.WIDTH].strip(): line[start_table.WIDTH :].split("  ") for line in lines[:5]}
    cells = {name: [cell.strip() for cell in row if cell.strip()] for name, row in rows.items()}
    assert cells["kernels, built with no model loaded"] == ["10 min 00 s", "-"]
    assert cells["imports and processes"] == ["31.0 s", "30.0 s"]
    assert cells["reading the weights"] == ["5 min 00 s", "62.2 s"]
    assert cells["in all"] == ["15 min 31 s", "92.2 s"]
    assert all(len(line) <= 79 for line in lines)


def test_nothing_was_started_yet() -> None:
    assert start_table.as_lines([]) == ["No engine was started here yet."]
    assert start_table.as_json([]) == []


def test_each_configuration_has_a_table_of_its_own() -> None:
    noted = [start("a", True, start=1), start("b", True, start=2), start("a", True, start=9)]
    found = start_table.as_json(noted)
    assert [one["stages"]["start"] for one in found] == [1, 2]
