"""From answers to a record: its shape, its figures, what is kept out of it; comparing and showing it."""

from __future__ import annotations

import copy
import csv
import io
import json
from dataclasses import replace
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest

from spark_chat.lab import compare, listing, plot, report
from spark_chat.lab.item import Workload
from spark_chat.lab.plan import Plan
from spark_chat.lab.record import record, without_paths
from spark_chat.lab.results import AnyFound, Order, Start, Visit
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE
from tests.lab.scripted import answer, items, plan

SPEEDS = {(0, "a"): 100.0, (0, "b"): 50.0, (1, "a"): 220.0, (1, "b"): 45.0}


def found_in(whole: Plan, speeds: dict[tuple[int, str], float] = SPEEDS, rounds: int = 3) -> list[AnyFound]:
    """Three rounds, one in a hundred faster each, with accept length 2 where MTP is on."""
    found: list[AnyFound] = [Order(order="interleaved")]
    for place in range(len(whole.configurations)):
        found.append(Start(
            configuration=place, ready_s=2.0 + place, stages={"weights": 1.0, "graphs": 0.5}, engine="llama.cpp",
            version="b1", model="small.gguf", context=2048, facts={"kv_cache_bytes": 1024, "log": "/home/me/x.log"},
        ))  # fmt: skip
        found.append(answer(place, role="warm-up", round=0, tok_s=1.0, cold=True))
        for (configuration, item), speed in speeds.items():
            for round in range(1, rounds + 1):
                if configuration == place:
                    drafts = {"accept_length": 2.0, "accepted_histogram": [1, 0, 3], "verify_steps": 4} if place else {}
                    found.append(answer(place, item, round, speed * (1 + round / 100), text_digest=item, **drafts))
        state = {"mtp": {"state": "ACTIVE" if place else "OFF", "reason": "", "requested": bool(place)}}
        found.append(Visit(configuration=place, optimizations=state, memory_bytes=1 << 20))
    return found


@cache
def usual() -> str:
    """The record of two configurations, as JSON, since the intervals take a while."""
    return json.dumps(built())


def made(whole: Plan | None = None, found: list[AnyFound] | None = None, **fields: Any) -> dict[str, Any]:
    if whole is None and found is None and not fields:
        return json.loads(usual())  # type: ignore[no-any-return]
    return built(whole, found, **fields)


def built(whole: Plan | None = None, found: list[AnyFound] | None = None, **fields: Any) -> dict[str, Any]:
    whole = whole or plan(rounds=3)
    about: dict[str, Any] = {"id": "20260102-030405-abcd", "made": "2026-01-02T03:04:05Z", "machine": MACHINE, **fields}
    return record(whole, found_in(whole) if found is None else found, **about)


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


def test_a_prompt_on_which_it_loses_is_shown() -> None:
    whole = made()
    prompts = {prompt["name"]: prompt["loses"] for prompt in whole["configurations"][1]["prompts"]}
    assert prompts == {"a": False, "b": True}
    lines = report.as_lines(whole)
    assert "▼ mtp=on loses on b 0.90x" in lines
    assert any(line.startswith("b ") and "▼ 45.9 (2.00)" in line for line in lines)
    assert not any(prompt["loses"] for prompt in whole["configurations"][0]["prompts"])


def test_slower_by_less_than_its_runs_vary_is_told_apart() -> None:
    whole = plan(rounds=3)
    speeds = {(0, "a"): 100.0, (1, "a"): 99.9, (0, "b"): 50.0, (1, "b"): 45.0}
    lines = report.as_lines(made(whole, found_in(whole, speeds)))
    assert "▼ mtp=on loses on b 0.90x" in lines
    assert "▽ mtp=on is slower, by less than its runs vary, on a 1.00x" in lines
    assert any(line.startswith("a ") and "▽ 101.9 (2.00)" in line for line in lines)
    once = plan(rounds=1)
    lines = report.as_lines(made(once, found_in(once, speeds, rounds=1)))
    assert "▼ mtp=on loses on a 1.00x, b 0.90x" in lines, "of one run nothing is known of how it varies"


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


def test_what_came_out_of_the_prefix_cache_is_said() -> None:
    found: list[AnyFound] = [
        Order(order="single"),
        answer(prompt_tokens=100, cached_tokens=60),
        answer(item="b", prompt_tokens=50),
    ]
    assert "prefix cache: 60 of 150 prompt tokens came out of it; --fresh defeats it" in report.as_lines(
        made(found=found)
    )


def test_drift_shows() -> None:
    found = found_in(plan(rounds=3))
    assert made(found=found)["drift"]["median"] == pytest.approx(1.03 / 1.01)
    found += [answer(0, "a", 4, 50.0, role="repeat")]
    assert made(found=found)["drift"]["median"] == pytest.approx(50 / 102)


def test_greedy_texts_that_differ_are_told() -> None:
    found = [*found_in(plan(rounds=3)), answer(1, "a", 3, 220.0, text_digest="other")]
    whole = made(found=found)
    assert whole["configurations"][1]["texts_differ"] == ["a"]
    assert any("greedy text differs" in line for line in report.as_lines(whole))


def test_markdown_and_csv() -> None:
    text = report.as_markdown(made())
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4 + 4 and len({line.count("|") for line in rows[:4]}) == 1
    parsed = list(csv.DictReader(io.StringIO(report.as_csv(made()))))
    assert len(parsed) == 14 and {row["configuration"] for row in parsed} == {"mtp=off", "mtp=on"}
    assert parsed[1]["decode_tok_s"] == "101.0"


def test_the_chart_stands_alone() -> None:
    drawn = plot.svg(made())
    ElementTree.fromstring(drawn)
    assert b"<script" not in drawn or b"src=" not in drawn
    assert b"mtp=on" in drawn and b"all prompts" in drawn


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


@pytest.mark.parametrize("width, parts", [(34, 7), (60, 3), (80, 2), (200, 1)])
def test_the_table_fits_its_width(width: int, parts: int) -> None:
    lines = report.figures(made(), width)
    assert max(map(len, lines)) <= width
    assert sum(line.startswith("mtp=on") for line in lines) == parts == lines.count("") + 1
    heads = [line.split("  ") for line in lines if line.startswith("configuration")]
    shown = [cell.strip() for head in heads for cell in head[1:] if cell.strip()]
    assert shown == list(report.COLUMNS[1:]), "every column once, an interval beside its figure"
    assert all(head[1:] and head[1].strip() != "95 %" for head in heads)


@pytest.mark.parametrize(
    ("badge", "said"),
    [
        ({"state": "STARTING", "kind": "n-gram", "reason": "It is set up."},
         "on: mtp (n-gram) was set up and made no draft in these runs: nothing repeats in these texts."),
        ({"state": "STARTING", "kind": "MTP", "reason": "It is set up."},
         "on: mtp was set up and made no draft in these runs."),
        ({"state": "UNAVAILABLE", "kind": None, "reason": "needs an NVIDIA GPU on SGLang"},
         "on: mtp is not to be had here: needs an NVIDIA GPU on SGLang."),
        ({"state": "FAILED", "kind": None, "reason": "Not one draft was made."},
         "on: mtp failed: not one draft was made."),
        ({"state": "OFF", "kind": None, "reason": ""}, "on: mtp was off."),
    ],
)  # fmt: skip
def test_what_was_asked_for_and_not_seen_is_said_in_a_sentence(badge: dict[str, Any], said: str) -> None:
    found = made()
    found["configurations"][1]["name"] = "on"
    found["configurations"][1]["optimizations"] = {"mtp": {**badge, "requested": True}}
    assert said in report.as_lines(found, 200)
