"""A comparison from the chat, over scripted engines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.engine.protocol import Generate
from spark_chat.lab import archive
from spark_chat.lab.narration import Narration
from spark_chat.optimizations.optimization import Badge, State
from tests.lab.scripted import Scripted, plan
from tests.tui.lab_sitting import lab, open_compare

pytestmark = pytest.mark.usefixtures("home")


async def test_two_configurations_side_by_side() -> None:
    async with lab() as (found, engine):
        measured = Scripted()
        screen = await open_compare(found, measured)
        assert "[x] MTP" in found.screen_text() and "[ ] Humming" in found.screen_text()
        stopped = []
        screen.rounds = 1
        send = measured.start

        async def start(*arguments: Any, **options: Any) -> None:
            stopped.append(not engine.alive)
            await send(*arguments, **options)

        measured.start = start  # type: ignore[method-assign]
        await found.pilot.press("f5")
        await found.until(lambda: "Kept as" in found.screen_text(), "the end")
        shown = found.screen_text()
        assert "mtp=off" in shown and "mtp=on" in shown and "95 %" in shown
        await found.pilot.resize_terminal(60, 40)

        def tables() -> int:
            return sum(line.strip().startswith("configuration") for line in found.screen_text().splitlines())

        await found.until(lambda: tables() > 1, "several tables of the one")
        assert stopped == [True, True], "the chat's engine makes room"
        await found.until(lambda: found.app.session.snapshot.phase is Phase.READY, "the chat's engine")
        assert engine.alive and not measured.alive
        record = archive.load("last")
        assert [item["settings"] for item in record["configurations"]] == [
            {"optimizations.mtp": False}, {"optimizations.mtp": True}
        ]  # fmt: skip
        assert record["configurations"][1]["all_settings"]["optimizations.humming"]["from"] == "default"


async def test_a_comparison_that_is_stopped_brings_the_chat_back() -> None:
    async with lab() as (found, engine):
        measured = Scripted()
        measured.held_from = 3  # after the warm-up and one answer
        screen = await open_compare(found, measured)
        await found.pilot.press("f5")
        await found.until(lambda: "1/18" in found.screen_text(), "the first answer")
        await found.pilot.press("escape")
        await found.until(lambda: not screen.running, "its end")
        await found.until(lambda: "Stopped;" in found.screen_text(), "the sentence")
        await found.until(lambda: found.app.session.snapshot.phase is Phase.READY, "the chat's engine")
        assert engine.alive


async def test_a_comparison_that_was_stopped_goes_on() -> None:
    async with lab() as (found, _):
        measured = Scripted()
        measured.held_from = 3
        screen = await open_compare(found, measured)
        screen.rounds = 1
        await found.pilot.press("f5")
        await found.until(lambda: "1/6" in found.screen_text(), "an answer")
        await found.pilot.press("escape")
        await found.until(lambda: not screen.running and "--resume" in found.screen_text(), "how to go on")
        kept = archive.load("last")
        done = sum(item["runs_counted"] for item in kept["configurations"])
        assert done == 1 and kept["interrupted"] and kept["own_engines"]
        await found.until(lambda: found.app.session.snapshot.phase is Phase.READY, "the chat's engine")
        asked = sum(isinstance(command, Generate) for command in measured.commands)
        measured.held_from = None
        screen.query_one(Input).value = "code --resume"
        await found.pilot.press("f5")
        await found.until(lambda: not screen.running and "Kept as" in found.screen_text(), "the end")
        whole = archive.load("last")
        assert whole["id"] == kept["id"] and [item["runs_counted"] for item in whole["configurations"]] == [6, 6]
        again = sum(isinstance(command, Generate) for command in measured.commands) - asked
        assert again == 12 - done + 2, "what was measured is not asked again; each start warms up once"
        await found.pilot.press("f5")
        await found.until(lambda: "was cut off" in found.screen_text(), "nothing is left")


async def test_the_questions_of_a_file_can_be_compared_too(tmp_path: Path) -> None:
    file = tmp_path / "test set.jsonl"
    rows = [{"question": f"What is {n} + {n}?", "answer": f"#### {2 * n}"} for n in range(9)]
    file.write_text("\n".join(map(json.dumps, rows)))
    async with lab() as (found, _):
        screen = await open_compare(found, Scripted())
        screen.query_one(Input).value = f"gsm8k --data '{file}' --questions 3 --max-tokens 40"
        await found.pilot.press("f5")
        await found.until(lambda: not screen.running and "Kept as" in found.screen_text(), "the end")
        record = archive.load("last")
        assert record["workload"]["name"] == "gsm8k" and record["rounds"] == 1
        assert [item["accuracy"]["of"] for item in record["configurations"]] == [3, 3]
        assert "McNemar" in found.screen_text()
        screen.query_one(Input).value = "gsm8k --data"
        await found.pilot.press("f5")
        await found.until(lambda: "--data needs the name of a file" in found.screen_text(), "the sentence")


async def test_what_cannot_run_here_is_not_ticked_and_says_why() -> None:
    async with lab() as (found, _):
        screen = await open_compare(found, Scripted())
        assert "[ ] Humming: not here, needs SGLang on an NVIDIA GPU" in found.screen_text()
        await found.pilot.press("enter")
        await found.until(lambda: "Humming is not to be had here: needs SGLang" in found.screen_text(), "the sentence")
        assert screen.varied == ["mtp"] and "[ ] Humming" in found.screen_text()


def test_what_is_varied_and_cannot_run_here_is_said_at_the_start() -> None:
    said: list[str] = []
    never = Badge("humming", "Humming", State.UNAVAILABLE, False, reason="needs an NVIDIA GPU")
    snapshot = Snapshot(badges=(never, replace(never, name="fp8_head", label="FP8 head")))
    narration = Narration(replace(plan(), keys=("optimizations.humming",)), said.append)
    for _ in range(2):
        narration.snapshot(snapshot)
    (line,) = said
    assert line.startswith("Humming is not to be had here: needs an NVIDIA GPU. ")


async def test_what_is_varied_is_chosen() -> None:
    async with lab() as (found, _):
        screen = await open_compare(found, Scripted())
        await found.pilot.press("down", "down", "enter", "f8", "f6")
        await found.until(lambda: screen.varied == [] and screen.cumulative and screen.rounds == 3)
        await found.until(lambda: "[ ] MTP" in found.screen_text(), "its mark")
        await found.until(lambda: "one added after the other" in found.screen_text(), "how")
        await found.pilot.press("enter")
        await found.until(lambda: screen.varied == ["mtp"] and "[x] MTP" in found.screen_text())
        screen.query_one(Input).value = "nothing-there"
        await found.pilot.press("f5")
        await found.until(lambda: "There is no workload" in found.screen_text(), "the sentence")
        assert not screen.running
