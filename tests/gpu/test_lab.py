"""The lab's stage without a GPU: the same bench on llama.cpp, an engine that hangs, the limit, the record."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import waiting
from tests.gpu import record, stage_lab
from tests.gpu.stage_lab import Case, Watch
from tests.processes import end_with_us, of_home

ROOT = Path(__file__).parents[2]

LIMIT_S = 1_000.0
"""Far more than it takes: these engines share the machine with other tests."""
NAMES = [
    "humming=off fp8_head=off mtp=off", "humming=on fp8_head=off mtp=off", "humming=on fp8_head=on mtp=off",
    "humming=on fp8_head=on mtp=on",
]  # fmt: skip


@pytest.fixture
def case(model: Path, tmp_path: Path) -> Case:
    """One prompt and a few tokens, on llama.cpp."""
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({"name": "count", "prompt": "Count from 1 to 30."}) + "\n")
    return Case("oracle", model, 8, 60, "llama.cpp", flags=("--bandwidth", "50"), prompts=(str(file),))


@pytest.mark.model
def test_the_stage_makes_the_table_and_an_engine_that_takes_too_long_is_a_row_with_its_reason(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_lab, "LOOK_S", 0.02)
    monkeypatch.setattr(Watch, "cap", lambda watch, since, place: 0.01 if place == 2 else 100_000.0)
    found = stage_lab.run(case, tmp_path / "work", tmp_path / "out", LIMIT_S)
    assert found["ended"] == 1 and found["exit"] == 0 and not found["ok"], found
    assert [row["name"] for row in found["rows"]] == NAMES
    assert [rung["name"] for rung in found["cumulative"]] == ["baseline", "+ Humming", "+ FP8 head", "+ MTP"]
    assert [bool(row["failure"]) for row in found["rows"]] == [False, True, False, False], found["problems"]
    assert [row["runs_counted"] for row in found["rows"]] == [1, 0, 1, 1]
    assert found["rows"][1]["failure"] in found["error"]
    kept = json.loads((tmp_path / "out" / "lab-oracle.json").read_text())
    assert {run["completion_tokens"] for item in kept["configurations"] for run in item["runs"]
            if run["role"] == "measured"} == {8}  # fmt: skip


@pytest.mark.model
def test_at_the_limit_what_was_measured_by_then_is_kept(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, log = Watch._look, tmp_path / "work" / "lab-oracle.log"

    def late(watch: Watch, now: float) -> None:
        looked(watch, now + 10 * LIMIT_S if "1 of 4" in log.read_text() else now)

    monkeypatch.setattr(stage_lab, "LOOK_S", 0.02)
    monkeypatch.setattr(Watch, "cap", lambda watch, since, place: 100_000.0)
    monkeypatch.setattr(Watch, "_look", late)
    found = stage_lab.run(case, tmp_path / "work", tmp_path / "out", LIMIT_S)
    assert found["interrupted"] and found["exit"] == 130 and not found["ok"]
    assert found["rows"][0]["runs_counted"] == 1 and found["rows"][3]["runs_counted"] == 0


STAGE = """
import sys
from pathlib import Path
from tests.gpu import stage_lab
model, prompts, work, out = map(Path, sys.argv[1:])
case = stage_lab.Case("oracle", model, 4_000, 60, "llama.cpp", prompts=(str(prompts),))
stage_lab.run(case, work, out, 1_000)
"""


@pytest.mark.model
def test_where_the_stage_is_killed_no_bench_goes_on(case: Case, tmp_path: Path) -> None:
    work = tmp_path / "work"
    command = [sys.executable, "-c", STAGE, str(case.model), *case.prompts, str(work), str(tmp_path / "out")]
    with subprocess.Popen(command, cwd=ROOT, preexec_fn=end_with_us) as stage:
        home = work / "lab-oracle.home"

        def at_work() -> bool:
            return any(stage_lab.WORKER in process.info["cmdline"] for process in of_home(home))

        assert waiting.comes(at_work)
        stage.kill()
    assert waiting.comes(lambda: not of_home(home)), of_home(home)


def test_a_first_engine_may_take_what_the_others_do_not_need() -> None:
    watch = Watch.__new__(Watch)
    watch._start_s, watch._until = 60.0, 1_000.0 + stage_lab.LAST_S
    assert watch.cap(700.0, 1) == 120.0, "300 s are left and three are to come"
    assert watch.cap(900.0, 4) == 100.0 and watch.cap(990.0, 4) == 60.0, (
        "the last has the rest, and its own in any case"
    )


def a_row(place: int, **changed: Any) -> dict[str, Any]:
    toggles = ("humming", "fp8_head", "mtp")
    on = {name: at < place for at, name in enumerate(toggles)}
    return {
        "name": NAMES[place], "settings": {f"optimizations.{name}": value for name, value in on.items()},
        "decode_tok_s": {"median": 100.0 + place, "low": 99.0, "high": 110.0, "n": 6},
        "ratio_to_first": {"median": 1.0 + place, "low": 0.9, "high": 5.0},
        "accept_length": {"median": 2.5, "low": 2.5, "high": 2.5, "n": 6} if on["mtp"] else None,
        "ttft_s": None, "verify_step_ms": 7.5 if on["mtp"] else None, "plain_step_ms": None, "compile_s": None,
        "verify_over_plain_step": {"median": 1.4, "low": 1.3, "high": 1.5} if on["mtp"] else None,
        "break_even_accept_length": None, "start_s": 61.2, "cache_bytes": 1234, "memory_bytes": None,
        "runs_counted": 6, "texts_differ": [], "failure": None,
        "optimizations": {name: {"state": "ACTIVE" if value else "OFF", "reason": "", "proof": {}}
                          for name, value in on.items()},
        "runs": [{"role": "measured", "item": "sql", "completion_tokens": 9, "verify_steps": 2 if on["mtp"] else None,
                  "accepted_drafts": 6 if on["mtp"] else None}],
    } | changed  # fmt: skip


def a_record(*rows: dict[str, Any]) -> dict[str, Any]:
    rungs = [{"name": name} for name in ("baseline", "+ Humming", "+ FP8 head", "+ MTP")]
    return {"configurations": rows, "cumulative": rungs, "order": "ordered", "interrupted": False, "limit": None,
            "drift": {"median": 1.01, "low": 1.0, "high": 1.02}, "notes": [],
            "workload": {"prompts": [{"name": "sql"}] * 6}}  # fmt: skip


@pytest.fixture
def known(tmp_path: Path) -> Case:
    """An oracle whose drafts are always right: 9 tokens are one of the prefill and two steps of four."""
    spec = {"right": [20, 21], "mixed": [30, 31, 32], "wrong": {}, "eos": 99}
    (tmp_path / "oracle.json").write_text(json.dumps(spec))
    return Case("oracle", tmp_path, 9, 35, known=True)


def test_the_oracles_bench_is_held_against_what_is_known(known: Case) -> None:
    found = stage_lab.judged(known, a_record(*map(a_row, range(4))))
    assert found["ok"] and found["accept_constructed"] == 4.0, found["problems"]
    short = a_row(3)["runs"][0] | {"verify_steps": 3, "accepted_drafts": 5}
    off = a_row(2)["optimizations"] | {"fp8_head": {"state": "FAILED", "reason": "no", "proof": {}}}
    wrong = [
        a_row(1, texts_differ=["sql"]), a_row(3, runs=[short]), a_row(2, optimizations=off),
        a_row(3, runs_counted=0, failure="The engine is gone."), a_row(3, runs_counted=4),
        a_row(0, runs=[a_row(0)["runs"][0] | {"completion_tokens": 8}]),
    ]  # fmt: skip
    for row in wrong:
        found = stage_lab.judged(known, a_record(row))
        assert not found["ok"] and row["name"] in found["error"], row


def test_both_tables_are_in_the_record_and_the_readme(known: Case, tmp_path: Path) -> None:
    gone = a_row(2, runs_counted=0, failure="It ended, see /tmp/visit/x.log.", decode_tok_s=None, ratio_to_first=None)
    stand_in = replace(known, name="stand-in", known=False)
    visit = {
        "date": "2026-01-02", "env": {"chip": "NVIDIA H200", "sglang": "0.5.23", "torch": "2"},
        "lab_oracle": stage_lab.judged(known, a_record(*map(a_row, range(4)))),
        "lab_full": stage_lab.judged(stand_in, a_record(a_row(0), a_row(1), gone, a_row(3))),
    }  # fmt: skip
    (tmp_path / "visit.json").write_text(json.dumps(visit))
    found = json.loads(record.write([tmp_path / "visit.json"], tmp_path / "records").read_text())
    assert [each["case"] for each in found["lab"]] == ["oracle", "stand-in"]
    said = record.markdown([found])
    assert (
        "| baseline | OFF, OFF, OFF | 100.0 (99.0-110.0) | 1.00 (0.90-5.00) | – | – | – | 61 s | 1,234 bytes |" in said
    )
    assert (
        "| + MTP | ACTIVE, ACTIVE, ACTIVE | 103.0 (99.0-110.0) | 4.00 (0.90-5.00) | 2.50 | 7.50 ms | 1.40 (1.30-"
        in said
    )
    assert "| + FP8 head | did not run: It ended, see …" in said and "/tmp/" not in said
    assert "accept length constructed: 4.00" in said and "accept length set" in said
