"""A check and a comparison from the chat, over scripted engines; the chart of an answer."""

from __future__ import annotations

import pytest
from textual.widgets import Sparkline, TextArea

from spark_chat.driver.snapshot import Phase
from spark_chat.engine.protocol import Generate
from spark_chat.lab import archive
from spark_chat.tui.lab.chart import POINTS, Chart, Course
from spark_chat.tui.lab.check import CheckScreen
from spark_chat.tui.lab.options import packed
from tests.tui.lab_sitting import lab, open_check
from tests.tui.sitting import Clock, sitting

pytestmark = pytest.mark.usefixtures("home")


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


async def test_a_check_with_its_prompt_runs_at_once() -> None:
    async with lab() as (found, engine):
        await found.type("/check What is a lighthouse?")
        await found.pilot.press("enter")
        await found.until(lambda: "5 of 5 runs counted" in found.screen_text(), "the end")
        asked = [command.messages[-1].content for command in engine.commands if isinstance(command, Generate)]
        assert len(asked) == 6 and set(asked[1:]) == {"What is a lighthouse?"}
        await found.pilot.press("escape")
        await found.until(lambda: found.app.screen is found.app.chat, "the chat")
        await found.type("what is written is not run yet")
        screen = await open_check(found)
        assert "written" in screen.query_one(TextArea).text and not screen.running


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
        await found.until(lambda: "warm-up, cold" in found.screen_text(), "the beginning")


async def test_the_options_do_what_they_say() -> None:
    async with lab("temperature=0.7", "seed=5") as (found, engine):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f6", "f7", "f8", "f9", "f4")
        await found.until(lambda: "fresh prefix" in found.screen_text(), "the last of them")
        shown = found.screen_text()
        assert "10 runs" in shown and "exactly 512 tokens" in shown and "the chat's sampling" in shown
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
        await found.until(lambda: "There is no prompt yet" in found.screen_text(), "the sentence")
        screen.query_one(TextArea).text = "Hi"
        engine.die()
        await found.until(lambda: found.app.session.snapshot.phase is Phase.FAILED, "the failure")
        await found.pilot.press("f5")
        await found.until(lambda: "The engine is not up yet" in found.screen_text(), "the sentence")


async def test_an_engine_that_dies_under_a_check() -> None:
    async with lab(dies_after=5) as (found, _):
        screen = await open_check(found)
        screen.query_one(TextArea).text = "Hi"
        await found.pilot.press("f5")
        await found.until(lambda: not screen.running and screen.answers, "its end")
        await found.until(lambda: "has ended" in found.screen_text(), "the sentence")


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
        line = found.app.chat.query_one("#chart-speed", Sparkline)
        await found.until(lambda: list(line.data or ()) == [0.0, 100.0, 90.0, 30.0], "the line")
        await found.until(lambda: "tok/s  30.0 to 100.0" in found.screen_text(), "its range")
        assert "accept 2.00 to 2.00" in found.screen_text()
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
