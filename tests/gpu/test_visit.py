"""A visit's own order and records, without a GPU."""

from __future__ import annotations

import argparse
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests import waiting
from tests.gpu import lab_worker, record, visit
from tests.gpu.stage_toggles import NAMES, make


def given(tmp_path: Path, seconds: float) -> argparse.Namespace:
    return argparse.Namespace(
        out=tmp_path / "out", work=tmp_path, name="first", seconds=seconds, leaders=True, only="", sweep=0
    )


def test_what_is_timed_waits_until_all_else_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visit, "TIMED_S", 1)
    seen: list[str] = []
    slow_may_end = threading.Event()

    class Tried(visit.Visit):
        def together(self, parts: set[str]) -> list[tuple[str, visit.Call, float, int]]:
            return [("full", self.timed, 0, 0), ("slow", self.slow, 0, 0), ("late", self.late, 0, 1)]

        def slow(self, _limit: float) -> dict[str, Any]:
            slow_may_end.wait(20)
            seen.append("slow")
            return {"ok": True}

        def late(self, _limit: float) -> dict[str, Any]:
            seen.append("late")
            return {"ok": True}

        def timed(self, _limit: float) -> dict[str, Any]:
            slow_may_end.set()
            assert waiting.comes(self.gate.exists)
            seen.append("timed")
            return {"ok": True, "error": ""}

    tried = Tried(given(tmp_path, 120))
    tried.overlap({"full"})
    assert seen == ["slow", "late", "timed"]
    kept = json.loads((tmp_path / "out" / "visit-first.json").read_text())
    assert kept["slow"]["ok"] and kept["full"]["ok"]


def test_a_part_that_breaks_is_a_record_too(tmp_path: Path) -> None:
    tried = visit.Visit(given(tmp_path, 120))

    def breaks(_limit: float) -> dict[str, Any]:
        raise RuntimeError("no such chip")

    tried.part("clamp", breaks, 10)
    assert tried.records["clamp"]["error"] == "RuntimeError: no such chip" and not tried.records["clamp"]["ok"]


def of_setting(job: dict[str, Any]) -> dict[str, Any]:
    mtp = job["toggles"][2]
    return {
        **dict(zip(NAMES, job["toggles"], strict=True)), "ok": True, "took_s": 1.0,
        "states": {name: "ACTIVE" if on else "OFF" for name, on in zip(NAMES, job["toggles"], strict=True)},
        "text_equal": True, "counts_equal": True, "answers": [10, 10],
        "accept_length": [2.5, 4.0, 3.8182, 2.6, 2.1] + [2.6] * 5 if mtp else [None] * 10,
        "accept_constructed": [2.5, 4.0, 3.8182, 2.6, 2.4] + [2.6] * 5 if mtp else [None] * 10,
    }  # fmt: skip


@pytest.fixture
def visits(tmp_path: Path) -> list[Path]:
    """The two halves of a visit, as they come from the machine."""
    first: dict[str, Any] = {
        "date": "2026-01-02", "commit": "abc1234",
        "env": {"ok": True, "chip": "NVIDIA H200", "sglang": "0.5.23", "torch": "2.14.1+cu130"},
        "full": {"ok": True, "name": "full", "tpot_ms": 3.0, "accept_length": 2.6, "step_ms": 7.8, "tok_s": 333.0},
        "clamp": {"ok": True, "error": "seen in /tmp/visit/x.json", "log_end": ["/home/someone/secret"]},
    }  # fmt: skip
    first |= {job["name"]: of_setting(job) for job in reversed(make(tmp_path))}
    second = {"humming": {"ok": True, "name": "humming", "tpot_ms": 6.5, "tok_s": 153.8}}
    paths = [tmp_path / "visit-first.json", tmp_path / "visit-second.json"]
    for path, found in zip(paths, (first, second), strict=True):
        path.write_text(json.dumps(found))
    (tmp_path / "tui.screens.json").write_text(json.dumps({"answered": ["● MTP", "accept 4.00"]}))
    return paths


def test_visits_become_a_record_of_the_known_shape(visits: list[Path], tmp_path: Path) -> None:
    path = record.write(visits, tmp_path / "records")
    found = json.loads(path.read_text())
    assert path.name == "h200-2026-01-02.json"
    assert list(found) == ["chip", "date", "sglang", "torch", "commit", "oracle", "stand_in", "reopen", "lab",
                           "recipes"]  # fmt: skip
    assert [[each[name] for name in NAMES] for each in found["oracle"]] == [list(job["toggles"])
                                                                           for job in make(tmp_path)]  # fmt: skip
    assert all(each["accept_length"] == each["accept_constructed"] for each in found["oracle"])
    full = next(each for each in found["stand_in"] if each["name"] == "full")
    assert full["speed_over_humming"] == pytest.approx(6.5 / 3) and full["verify_over_plain_step"] == 1.2


def test_a_second_visit_stands_beside_the_first_with_what_is_to_be_said_of_it(tmp_path: Path) -> None:
    reopen = {"found_in_s": 0.002, "whole_check_s": 0.9, "first_over_second": {"8": 1.0, "60": 1.25}, "answers": []}
    resolve = {"right": True, "recipes": {"baseline": {}}}
    env = {"chip": "NVIDIA H200", "sglang": "0.5.23", "torch": "2.14.1"}
    (tmp_path / "visit.json").write_text(json.dumps({"date": "2026-01-02", "env": env, "reopen": reopen,
                                                     "resolve": resolve}))  # fmt: skip
    path = record.write([tmp_path / "visit.json"], tmp_path / "records", "-second", ["It rained."])
    found = json.loads(path.read_text())
    assert path.name == "h200-2026-01-02-second.json"
    assert found["recipes"] == 1 and "answers" not in found["reopen"]
    said = record.markdown([found])
    assert "within 2 ms" in said and "1.25 at 60 words" in said and "- It rained." in said


def test_a_record_names_no_machine_and_no_path(visits: list[Path], tmp_path: Path) -> None:
    record.write(visits, tmp_path / "records")
    for path in (tmp_path / "records").rglob("*.json"):
        text = path.read_text()
        assert not record.HOME.search(text) and "secret" not in text
    assert "accept 4.00" in (tmp_path / "records" / "details" / "h200-2026-01-02.screens.txt").read_text()


def test_the_committed_records_name_no_machine_and_no_path() -> None:
    for path in record.RECORDS.rglob("*.json"):
        assert not record.HOME.search(path.read_text()), path.name


def test_the_readme_shows_the_committed_records() -> None:
    text = record.README.read_text()
    assert record.readme(text, record.RECORDS) == text, "run python -m tests.gpu.record --readme"


def test_time_of_kernels_is_summed_and_gaps_are_seen() -> None:
    events = [
        {"cat": "kernel", "name": "a", "ts": 0, "dur": 4}, {"cat": "kernel", "name": "b", "ts": 2, "dur": 4},
        {"cat": "kernel", "name": "a", "ts": 10, "dur": 1}, {"cat": "cpu_op", "name": "c", "ts": 0, "dur": 99},
    ]  # fmt: skip
    found = lab_worker.summed(events)["profile"]
    assert (found["span_us"], found["busy_us"], found["launches"]) == (11, 7, 3)
    assert found["kernels"][0] == ["a", 2, 5]
