"""The app's log: starts and failures, for this user alone, of a bounded size, and no word of a conversation."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from spark_chat.chat.diary import Diary
from spark_chat.driver.snapshot import Changed, Phase, Snapshot
from spark_chat.logs.app import AppLog
from spark_chat.logs.files import app_file
from spark_chat.optimizations.optimization import Badge, State
from tests.fakes import Script
from tests.plain.sitting import sit

pytestmark = pytest.mark.usefixtures("home")


async def test_a_sitting_is_written_down_without_what_was_said(tmp_path: Path) -> None:
    script = Script(words=["secret answer"], tokens=1)
    sitting = sit(tmp_path, script=script)
    sitting.type("a secret prompt\n")
    await sitting.until("1 tok")
    script.start_failure = "The weights are torn."
    sitting.type("/restart\n")
    await sitting.until("/restart starts it again")
    await sitting.end()
    text = app_file().read_text()
    assert "n-gram ACTIVE" in text and "STARTING" not in text, "an engine that is up has badges that were judged"
    assert "plain chat" in text and "engine ready: llama.cpp 1.0 with small.gguf" in text
    assert "engine failed: The weights are torn. Try another." in text and "plain chat ended" in text
    assert "secret" not in text
    assert stat.S_IMODE(app_file().stat().st_mode) == 0o600


def test_a_change_of_a_badge_is_written_once(tmp_path: Path) -> None:
    log = AppLog(tmp_path / "app.log")
    diary = Diary(log, "chat")
    waits = Badge("mtp", "n-gram", State.STARTING, True, word="no draft yet", reason="Nothing repeats yet.")
    works = replace(waits, state=State.ACTIVE, word="", reason="")
    counted = replace(works, counters={"verify_steps": 3}, reason="Little repeats.")
    failed = replace(works, state=State.FAILED, reason="Not one draft was made.")
    for phase, badge in (
        (Phase.STARTING, waits), (Phase.READY, waits), (Phase.READY, waits), (Phase.READY, works),
        (Phase.READY, counted), (Phase.STOPPED, counted), (Phase.READY, waits), (Phase.READY, failed),
    ):  # fmt: skip
        diary.update(Changed(Snapshot(phase=phase, badges=(badge,))))
    log.close(20)
    lines = [line.split("  ")[-1] for line in (tmp_path / "app.log").read_text().splitlines() if "n-gram" in line]
    assert [line[line.index("n-gram") :] for line in lines] == [
        "n-gram ACTIVE now, n-gram no draft yet before",
        "n-gram FAILED now, n-gram no draft yet before: Not one draft was made.",
    ]


def test_lines_stay_lines_and_the_file_stays_small(tmp_path: Path) -> None:
    log = AppLog(tmp_path / "logs" / "app.log", limit=4_000)
    for number in range(500):
        log.write(f"line {number}\nof two \ud800")
    log.close(20)
    lines = (tmp_path / "logs" / "app.log").read_text().splitlines()
    assert lines[-1].endswith("line 499 of two ?") and sum(map(len, lines)) < 4_100
    assert all("line" in line for line in lines)


def test_no_place_for_it_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (None, tmp_path / "file" / "app.log"):
        log = AppLog(path)
        log.write("x")
        log.close(20)


def test_a_problem_is_written_once(tmp_path: Path) -> None:
    log = AppLog(tmp_path / "app.log")
    diary = Diary(log, "chat")
    diary.problems(["a is wrong."])
    diary.problems(["a is wrong.", "b is wrong."])
    log.close(20)
    assert (tmp_path / "app.log").read_text().count("a is wrong") == 1
