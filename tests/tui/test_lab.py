"""A check and a comparison from the chat, over scripted engines; the chart of an answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Sparkline, TextArea

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Phase
from spark_chat.engine.protocol import Generate
from spark_chat.lab import archive
from spark_chat.settings.resolve import resolve
from spark_chat.tui.app import SparkApp
from spark_chat.tui.lab.chart import POINTS, Chart, Course
from spark_chat.tui.lab.check import CheckScreen
from spark_chat.tui.lab.compare import CompareScreen
from spark_chat.tui.lab.options import packed
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script
from tests.lab.scripted import Scripted
from tests.tui.sitting import Clock, Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


@asynccontextmanager
async def lab(
    *sets: str, size: tuple[int, int] = (110, 40), **script: Any
) -> AsyncIterator[tuple[Sitting, FakeEngine]]:
    """A chat on the real driver over a scripted engine."""
    engine = FakeEngine(Script(**{"tokens": 13, "drafts": 2, **script}))

    def make(listener: Any) -> Driver:
        return Driver(listener, MACHINE, engine.client, FakeModels(), FakeLastRun())

    app = SparkApp(resolve(("ui.tour=false", *sets), environ={}), engine=make, clock=Clock())
    async with app.run_test(size=size) as pilot:
        found = Sitting(app, pilot, [])
        await found.until(lambda: app.room and app.session.snapshot.phase is Phase.READY, "the engine")
        await found.until(lambda: app.journal is not None, "the journal")
        yield found, engine
        if app.is_running:
            await app.opening.leave()


async def open_check(found: Sitting) -> CheckScreen:
    await found.pilot.press("f6")
    await found.until(lambda: isinstance(found.app.screen, CheckScreen) and found.app.screen.is_mounted, "the screen")
    await found.pilot.pause()
    screen = found.app.screen
    assert isinstance(screen, CheckScreen)
    return screen


async def test_a_prompt_is_checked_and_stays_out_of_the_conversation() -> None:
    async with lab() as (found, engine):
        found.app.chat.composer.set_text("What is a lighthouse?")
        screen = await open_check(found)
        assert screen.query_one(TextArea).text == "What is a lighthouse?"
        await found.pilot.press("f5")
        await found.until(lambda: "Kept as" in found.screen_text(), "the end")
        shown = found.screen_text()
        assert "5 of 5 runs counted" in shown and "warm-up, cold" in shown
        for word in ("TTFT", "prefill", "cached", "min", "median", "max", "accept", "3.00"):
            assert word in shown
        assert len(found.app.session.conversation) == 0
        asked = [command for command in engine.commands if isinstance(command, Generate)]
        assert len(asked) == 6 and {command.sampling.temperature for command in asked} == {0.0}
        record = archive.load("last")
        assert record["workload"]["name"] == "check" and record["configurations"][0]["runs_counted"] == 5
        await found.pilot.press("escape")
        await found.until(lambda: found.app.screen is found.app.chat, "the chat")
        assert found.app.chat.composer.text == "What is a lighthouse?", "what was written is still there"


@pytest.mark.parametrize("width, lines", [(40, 3), (80, 2), (200, 1)])
def test_options_break_between_two_keys(width: int, lines: int) -> None:
    items = ("f5 run", "f6 5 runs", "f7/f9 up to 64 tokens", "f8 greedy", "f4 cache as it is", "esc back")
    found = packed(items, width - 4).splitlines()
    assert len(found) == lines and max(map(len, found)) <= width - 4
    assert [item for line in found for item in line.split("   ")] == list(items)


async def test_the_table_is_scrolled_by_keys_and_fits_a_narrow_screen() -> None:
    async with lab(size=(40, 20)) as (found, _):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f5")
        await found.until(lambda: "Kept as" in found.screen_text(), "the end")
        shown = found.screen_text()
        assert "tok/s  accept" in shown and "It ran on" not in shown
        seen = [shown]
        for _ in range(16):
            await found.pilot.press("pagedown")
            await found.pilot.pause()
            seen.append(found.screen_text())
        everything = "\n".join(seen)
        assert all(word in everything for word in ("prefill", "TPOT", "cached", "It ran on the chat's engine"))
        for _ in range(17):
            await found.pilot.press("pageup")
        await found.pilot.pause()
        assert "warm-up, cold" in found.screen_text()


async def test_the_options_do_what_they_say() -> None:
    async with lab("temperature=0.7", "seed=5") as (found, engine):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f6", "f7", "f8", "f9", "f4")
        await found.pilot.pause()
        shown = found.screen_text()
        assert "10 runs" in shown and "exactly 512 tokens" in shown and "the chat's sampling" in shown
        assert "fresh prefix" in shown
        await found.pilot.press("ctrl+r")
        await found.until(lambda: "10 of 10 runs counted" in found.screen_text(), "the end")
        asked = [command for command in engine.commands if isinstance(command, Generate)][1:]
        assert {command.sampling.temperature for command in asked} == {0.7}
        assert [command.sampling.seed for command in asked] == list(range(5, 15))
        assert all(command.sampling.ignore_eos and command.sampling.max_tokens == 512 for command in asked)
        texts = {command.messages[-1].content for command in asked}
        assert len(texts) == 10 and all(text.endswith("\n\nHi") for text in texts)


async def test_a_second_check_finds_no_prefix_of_the_first() -> None:
    async with lab() as (found, engine):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f4")
        for _ in range(2):
            await found.pilot.press("f5")
            await found.until(lambda: "Kept as" in found.screen_text() and not screen.running, "the end")
        texts = [command.messages[-1].content for command in engine.commands if isinstance(command, Generate)]
        assert len(texts) == len(set(texts)) == 12 and len({len(text.split()) for text in texts}) == 1


async def test_the_run_under_way_is_a_row_of_the_table() -> None:
    async with lab(tokens=3_000, rate=300) as (found, _):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f5")
        clock = found.app.clock
        assert isinstance(clock, Clock)

        def now() -> bool:
            clock.now += 1
            return any(line.split()[:1] == ["now"] for line in found.screen_text().splitlines())

        await found.until(now, "the row")
        await found.pilot.press("escape")
        await found.until(lambda: not screen.running, "its end")
        assert not any(line.split()[:1] == ["now"] for line in found.screen_text().splitlines())


async def test_escape_stops_a_check_and_keeps_what_was_measured() -> None:
    async with lab(tokens=3_000, rate=600) as (found, engine):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f5")
        await found.until(lambda: any(answer.counts for answer in screen.answers), "a run")
        await found.pilot.press("escape")
        await found.until(lambda: not screen.running, "its end")
        assert "Stopped." in found.screen_text() and isinstance(found.app.screen, CheckScreen)
        await found.pilot.press("escape")
        await found.until(lambda: found.app.screen is found.app.chat, "the chat")
        assert found.app.bystander is None and engine.alive


async def test_what_stands_in_the_way_is_told() -> None:
    async with lab() as (found, engine):
        screen = await open_check(found)
        await found.pilot.press("f5")
        await found.pilot.pause()
        assert "There is no prompt yet" in found.screen_text()
        screen.query_one(TextArea).text = "Hi"
        engine.die()
        await found.until(lambda: found.app.session.snapshot.phase is Phase.FAILED, "the failure")
        await found.pilot.press("f5")
        await found.pilot.pause()
        assert "The engine is not up yet" in found.screen_text()


async def test_an_engine_that_dies_under_a_check() -> None:
    async with lab(dies_after=5) as (found, _):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f5")
        await found.until(lambda: not screen.running and screen.answers, "its end")
        await found.pilot.pause()
        assert "has ended" in found.screen_text()


@pytest.mark.parametrize("size", [(80, 24), (40, 14), (20, 6)])
async def test_it_fits_small_terminals(size: tuple[int, int]) -> None:
    async with lab(size=size) as (found, _):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f5")
        await found.until(lambda: not screen.running and len(screen.answers) == 6, "its end")
        await found.pilot.pause()
        assert max(map(len, found.screen_text().splitlines()), default=0) <= size[0]


async def test_no_history_keeps_no_record() -> None:
    async with lab("ui.history=off") as (found, _):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f5")
        await found.until(lambda: "5 of 5 runs counted" in found.screen_text(), "the end")
        await found.until(lambda: not screen.running, "the end")
        assert archive.everything() == []


async def open_compare(found: Sitting, measured: Scripted) -> CompareScreen:
    found.app.measuring_driver = lambda listener, keeper: Driver(  # type: ignore[method-assign]
        listener, MACHINE, measured.client, FakeModels(), keeper
    )
    await found.pilot.press("f7")
    await found.until(lambda: isinstance(found.app.screen, CompareScreen) and found.app.screen.is_mounted, "the screen")
    screen = found.app.screen
    assert isinstance(screen, CompareScreen)
    screen.query_one(Input).value = "code"
    await found.pilot.pause()
    return screen


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
        await found.pilot.pause()
        heads = [line for line in found.screen_text().splitlines() if line.strip().startswith("configuration")]
        assert len(heads) > 1, "the table became several"
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
        slow = {True: Script(tokens=500, rate=600), False: Script(tokens=500, rate=600)}
        screen = await open_compare(found, Scripted(slow))
        await found.pilot.press("f5")
        await found.until(lambda: "1/18" in found.screen_text() or "2/18" in found.screen_text(), "the first answers")
        await found.pilot.press("escape")
        await found.until(lambda: not screen.running, "its end")
        await found.until(lambda: "Stopped;" in found.screen_text(), "the sentence")
        await found.until(lambda: found.app.session.snapshot.phase is Phase.READY, "the chat's engine")
        assert engine.alive


async def test_a_comparison_that_was_stopped_goes_on() -> None:
    async with lab() as (found, _):
        slow, quick = Script(tokens=500, rate=600), Script(tokens=9)
        measured = Scripted({True: slow, False: slow})
        screen = await open_compare(found, measured)
        screen.rounds = 1
        await found.pilot.press("f5")
        await found.until(lambda: "1/6" in found.screen_text() or "2/6" in found.screen_text(), "an answer")
        await found.pilot.press("escape")
        await found.until(lambda: not screen.running and "--resume" in found.screen_text(), "how to go on")
        kept = archive.load("last")
        done = sum(item["runs_counted"] for item in kept["configurations"])
        assert 1 <= done < 12 and kept["interrupted"] and kept["own_engines"]
        await found.until(lambda: found.app.session.snapshot.phase is Phase.READY, "the chat's engine")
        asked = sum(isinstance(command, Generate) for command in measured.commands)
        measured.by_mtp = {True: quick, False: quick}
        screen.query_one(Input).value = "code --resume"
        await found.pilot.press("f5")
        await found.until(lambda: not screen.running and "Kept as" in found.screen_text(), "the end")
        whole = archive.load("last")
        assert whole["id"] == kept["id"] and [item["runs_counted"] for item in whole["configurations"]] == [6, 6]
        again = sum(isinstance(command, Generate) for command in measured.commands) - asked
        assert again <= 12 - done + 2, "what was measured is not asked again; each start warms up once"
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


async def test_what_is_varied_is_chosen() -> None:
    async with lab() as (found, _):
        screen = await open_compare(found, Scripted())
        await found.pilot.press("enter", "f8", "f6")
        await found.pilot.pause()
        assert screen.varied == ["humming", "mtp"] and screen.cumulative and screen.rounds == 3
        assert "[x] Humming" in found.screen_text() and "one added after the other" in found.screen_text()
        screen.query_one(Input).value = "nothing-there"
        await found.pilot.press("f5")
        await found.until(lambda: "There is no workload" in found.screen_text(), "the sentence")
        assert not screen.running


async def test_the_chart_follows_an_answer() -> None:
    async with sitting() as found:
        await found.pilot.press("f8")
        await found.until(lambda: found.app.chat.query(Chart), "the chart")
        await found.send("Hello")
        clock = found.app.clock
        assert isinstance(clock, Clock)
        for speed in (100.0, 90.0, 30.0):
            clock.now += 1
            found.engine.piece("word ", live_tok_s=speed, live_accept_length=2.0)
        await found.pilot.pause()
        line = found.app.chat.query_one("#chart-speed", Sparkline)
        assert list(line.data or ()) == [0.0, 100.0, 90.0, 30.0]
        assert "tok/s  30.0 to 100.0" in found.screen_text() and "accept 2.00 to 2.00" in found.screen_text()
        await found.pilot.press("f8")
        await found.until(lambda: not found.app.chat.query(Chart), "its end")


def test_a_course_keeps_its_shape_however_long() -> None:
    course = Course()
    for value in range(10_000):
        course.add(float(value))
    course.add(None)
    assert POINTS / 2 <= len(course.points) < POINTS
    assert course.points == sorted(course.points) and course.points[-1] > 9_800


async def test_in_accessible_mode_a_check_has_figures_and_no_bars() -> None:
    async with lab("ui.accessible=true") as (found, _):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f5")
        await found.until(lambda: "Kept as" in found.screen_text(), "the end")
        shown = found.screen_text()
        assert "median" in shown and "TTFT" in shown
        assert not [char for char in shown if "\u2500" <= char <= "\u259f"], shown
