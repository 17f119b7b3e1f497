"""A record as tables, sentences, Markdown, CSV and a chart."""

from __future__ import annotations

import csv
import io
from typing import Any
from xml.etree import ElementTree

import pytest

from spark_chat.lab import plot, report
from spark_chat.lab.results import AnyFound, Order
from tests.lab.recorded import found_in, made
from tests.lab.scripted import answer, plan


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


def test_what_came_out_of_the_prefix_cache_is_said() -> None:
    found: list[AnyFound] = [
        Order(order="single"),
        answer(prompt_tokens=100, cached_tokens=60),
        answer(item="b", prompt_tokens=50),
    ]
    assert "prefix cache: 60 of 150 prompt tokens came out of it; --fresh defeats it" in report.as_lines(
        made(found=found)
    )


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
