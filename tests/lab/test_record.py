"""From answers to a record: its shape, its figures, and what is kept out of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from spark_chat.lab import compare, report
from spark_chat.lab.item import Workload
from spark_chat.lab.record import without_paths
from spark_chat.lab.results import AnyFound, Start
from spark_chat.settings.schema import Settings
from tests.lab.recorded import built, found_in, made
from tests.lab.scripted import answer, items, plan


def test_the_shape_that_others_read() -> None:
    whole = built()
    assert json.loads(json.dumps(whole)) == whole
    off, on = whole["configurations"]
    assert (off["settings"], on["settings"]) == ({"optimizations.mtp": False}, {"optimizations.mtp": True})
    assert set(on["decode_tok_s"]) == {"median", "low", "high", "n"} and on["decode_tok_s"]["n"] == 6
    assert set(on["ratio_to_first"]) == {"median", "low", "high"}
    assert on["ratio_to_first"]["median"] == pytest.approx((2.2 + 0.9) / 2)
    assert off["ratio_to_first"]["median"] == off["ratio_to_first"]["low"] == 1.0
    assert on["start_s"] == 3.0 and on["compile_s"] == 0.5 and on["cache_bytes"] == 1024
    assert on["memory_bytes"] == 1 << 20 and on["accepted_histogram"] == [6, 0, 18]
    assert len(on["runs"]) == 7 and on["optimizations"]["mtp"]["state"] == "ACTIVE"


def test_warm_ups_do_not_count() -> None:
    off = made()["configurations"][0]
    assert off["runs_counted"] == 6 and off["counted"] == "warm runs" and off["decode_tok_s"]["median"] > 50


def test_verify_steps_and_the_break_even() -> None:
    whole = plan(rounds=3)
    off, on = made(whole, found_in(whole, {(0, "a"): 100.0, (1, "a"): 150.0}))["configurations"]
    step = 1000 / (150 * 1.02) * 2
    assert on["verify_step_ms"] == pytest.approx(step) and on["plain_step_ms"] == pytest.approx(1000 / 102)
    assert on["break_even_accept_length"] == pytest.approx(step * 102 / 1000)
    over = on["verify_over_plain_step"]
    assert over["low"] <= over["median"] == on["break_even_accept_length"] <= over["high"]
    assert any(
        line.startswith("mtp=on: a verify round takes 13.1 ms, 1.33 (") and "plain steps of 9.8 ms" in line
        for line in report.as_lines(made(whole, found_in(whole, {(0, "a"): 100.0, (1, "a"): 150.0})))
    )
    assert off["verify_step_ms"] is None and off["break_even_accept_length"] is None


def test_the_cumulative_table() -> None:
    whole = plan("humming=off,on", "fp8_head=off,on", "mtp=off,on", cumulative=True)
    speeds = {(place, "a"): 10.0 * (place + 1) for place in range(4)}
    built = made(whole, found_in(whole, speeds))
    assert [rung["name"] for rung in built["cumulative"]] == ["baseline", "+ Humming", "+ FP8 head", "+ MTP"]
    assert [round(rung["ratio_to_first"]["median"], 2) for rung in built["cumulative"]] == [1, 2, 3, 4]
    assert any(line.startswith("+ FP8 head") for line in report.as_lines(built))


def test_a_configuration_that_did_not_come_up_is_a_row() -> None:
    found = [item for item in found_in(plan(rounds=3)) if getattr(item, "configuration", 0) == 0]
    found.append(Start(configuration=1, failure="There is no /home/me/models/x.gguf. Give another."))
    whole = made(found=found)
    assert whole["configurations"][1]["failure"] == "There is no x.gguf. Give another."
    lines = report.as_lines(whole)
    assert any(line.startswith("mtp=on") and "did not run" in line for line in lines)
    assert "✗ mtp=on: There is no x.gguf. Give another." in lines
    assert "did not run" in report.as_markdown(whole)


def test_settings_carry_where_they_came_from() -> None:
    whole = replace(plan(), origins={"engine.context": "environment (SPARK_CHAT__ENGINE__CONTEXT)"}, max_tokens=77)
    settings = made(whole)["configurations"][1]["all_settings"]
    assert settings["optimizations.mtp"] == {"value": True, "from": "varied"}
    assert settings["sampling.temperature"] == {"value": 0.0, "from": "workload"}
    assert settings["sampling.max_tokens"] == {"value": 77, "from": "--max-tokens"}
    assert settings["engine.context"]["from"].startswith("environment")
    assert settings["optimizations.humming"]["from"] == "default"


def test_no_path_and_no_host_is_in_it() -> None:
    engine = replace(Settings().engine, model="/home/me/models/x.gguf", args={"lora": "/home/me/a/b.bin"})
    sampling = replace(Settings().sampling, system_prompt="You are my secret.")
    whole = plan(rounds=3)
    first = replace(whole.configurations[0], settings=replace(Settings(), engine=engine, sampling=sampling))
    text = json.dumps(made(replace(whole, configurations=(first, whole.configurations[1]))))
    assert "/home" not in text and "secret" not in text and "b.bin" in text and "x.log" in text


@pytest.mark.parametrize(
    "text, kept",
    [
        ("/a/b/c.gguf", "c.gguf"), ("see /a/b/c.log, line 3", "see c.log, line 3"), ("~/x/y", "y"),
        ("tok/s and/or 3/4", "tok/s and/or 3/4"), ("https://a.b/c", "https://a.b/c"), ("'/a b/c'", "'a b/c'"),
    ],
)  # fmt: skip
def test_paths_are_cut_to_their_last_part(text: str, kept: str) -> None:
    assert without_paths({"x": [text]}) == {"x": [kept]}


def test_accuracy_with_its_tests() -> None:
    names = [f"q{number}" for number in range(20)]
    workload = Workload("gsm8k", items(*names), {"temperature": 0.6, "max_tokens": 9}, 1, extraction="rules-1")
    found: list[AnyFound] = [
        answer(place, name, 1, right=number < (12 if place == 0 else 18), completion_tokens=10 + number)
        for place in (0, 1) for number, name in enumerate(names)
    ]  # fmt: skip
    first, other = made(plan(workload=workload, rounds=1), found)["configurations"]
    assert first["accuracy"]["right"] == 12 and first["accuracy"]["mcnemar"] is None
    assert other["accuracy"]["mcnemar"] == {"questions": 20, "gained": 6, "lost": 0, "p": pytest.approx(2 / 64)}
    assert other["means"]["completion_tokens"] == 19.5
    lines = report.as_lines(made(plan(workload=workload, rounds=1), found))
    assert any("18/20" in line and "+6 -0, p 0.031" in line for line in lines)


def judged(fractions: tuple[float | None, ...]) -> dict[str, Any]:
    """The second configuration of two, asked ten judged questions each, with these memory fractions."""
    names = [f"q{number}" for number in range(10)]
    workload = Workload("gsm8k", items(*names), {"temperature": 0.6, "max_tokens": 9}, 1, extraction="rules-1")
    found: list[AnyFound] = [
        Start(configuration=place, ready_s=1.0, facts={"memory_fraction": fraction})
        for place, fraction in enumerate(fractions)
    ]  # fmt: skip
    found += [answer(place, name, 1, 100.0 * (place + 1), right=True) for place in (0, 1) for name in names]
    return made(plan(workload=workload, rounds=1), found)


def test_judged_answers_with_another_memory_fraction_are_not_compared() -> None:
    same = judged((0.6, 0.6))["configurations"][1]
    assert same["not_compared"] is None and same["ratio_to_first"]["median"] == 2 and same["accuracy"]["mcnemar"]
    whole = judged((0.6, 0.7))
    other = whole["configurations"][1]
    assert "0.6 in the first configuration and 0.7 here" in other["not_compared"]
    assert other["ratio_to_first"] is None and other["accuracy"]["mcnemar"] is None and other["accuracy"]["right"] == 10
    assert all(prompt["ratio_to_first"] is None and not prompt["loses"] for prompt in other["prompts"])
    assert any(
        line.startswith("✗ mtp=on is not compared: The memory fraction differs") for line in report.as_lines(whole)
    )
    first = judged((0.6, 0.6))
    with pytest.raises(compare.NotComparable, match=r"memory fraction differs: 0\.6 and 0\.6 and 0\.7"):
        compare.diff(first, whole)


def test_the_bytes_of_the_cache_of_either_engine() -> None:
    for facts in ({"kv_cache_bytes": 4096}, {"memory": {"cache_bytes": 4096, "cache_tokens": 7}}):
        found: list[AnyFound] = [Start(configuration=0, ready_s=1.0, facts=facts), answer()]
        assert made(found=found)["configurations"][0]["cache_bytes"] == 4096
    assert made(found=[Start(configuration=0, ready_s=1.0), answer()])["configurations"][0]["cache_bytes"] is None


def test_whose_engine_it_was_is_said() -> None:
    assert made()["own_engines"] is True and "shared with nobody" in made()["notes"][0]
    chats = made(own_engines=False)
    assert chats["own_engines"] is False and chats["notes"][0].startswith("It ran on the chat's engine; other windows")
    found: list[AnyFound] = [Start(configuration=0, ready_s=0.1, facts={"taken_over_after_s": 90.0}), answer()]
    assert "taken over 90" in made(found=found, own_engines=False)["notes"][0]


def test_drift_shows() -> None:
    found = found_in(plan(rounds=3))
    assert made(found=found)["drift"]["median"] == pytest.approx(1.03 / 1.01)
    found += [answer(0, "a", 4, 50.0, role="repeat")]
    assert made(found=found)["drift"]["median"] == pytest.approx(50 / 102)
