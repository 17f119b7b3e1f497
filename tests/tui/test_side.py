"""The panel at the side: open where it was asked for and has room, told what the meters are told."""

from __future__ import annotations

import pytest

from spark_chat.driver.snapshot import Snapshot
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.tui.lab.chart import Chart
from spark_chat.tui.side import wanted
from spark_chat.tui.transcript import Transcript
from spark_chat.tui.widgets.meters import Readings
from spark_chat.tui.widgets.side_panel import FITS_FROM, OPENS_FROM, SidePanel, panel_text
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize(
    ("setting", "own", "width", "accessible", "open"),
    [
        ("auto", None, OPENS_FROM, False, True),
        ("auto", None, OPENS_FROM - 1, False, False),
        ("auto", None, OPENS_FROM, True, False),
        ("auto", True, FITS_FROM, False, True),
        ("auto", False, 300, False, False),
        ("on", None, FITS_FROM, True, True),
        ("on", None, FITS_FROM - 1, False, False),
        ("on", True, 40, False, False),
        ("off", None, 300, False, False),
        ("off", True, 100, False, True),
    ],
)
def test_when_it_is_open(setting: str, own: bool | None, width: int, accessible: bool, open: bool) -> None:
    assert wanted(setting, own, width, accessible) is open


def test_its_text_fits_and_a_number_that_is_not_known_is_a_dash() -> None:
    text = panel_text(Readings(), None, Snapshot(), 30)
    assert {line.cell_length for line in text.split("\n") if line.plain.strip() and " " in line.plain.strip()} <= {
        30, len("This answer"), len("Last answer"),
    }  # fmt: skip
    rows = {tuple(line.plain.split()) for line in text.split("\n")}
    assert ("tok/s", "-") in rows and ("context", "-") in rows and ("tokens", "-") in rows
    numbers = AnswerNumbers(tokens=214, ttft_s=0.08, tpot_ms=7.6, verify_steps=117, prompt_tokens=40, cached_tokens=12)
    text = panel_text(Readings(tok_s=131.2, accept=1.83, context_used=3100, context=8192), numbers, Snapshot(), 30)
    for row in ("tok/s 131.2", "TTFT 0.08 s", "TPOT 7.6 ms", "accept 1.83", "verify steps 117", "context 3.1k / 8.2k"):
        assert any(" ".join(line.plain.split()) == row for line in text.split("\n")), row


def opened(chat: Sitting) -> bool:
    return bool(chat.app.chat.query(SidePanel))


async def test_it_opens_by_itself_in_a_wide_terminal_and_folds_as_it_narrows() -> None:
    async with sitting(size=(160, 40)) as chat:
        await chat.until(lambda: opened(chat))
        assert chat.app.chat.query_one(Transcript).size.width < 130
        await chat.resize(100, 30)
        await chat.until(lambda: not opened(chat))
        await chat.resize(300, 80)
        await chat.until(lambda: opened(chat))
        await chat.resize(40, 20)
        await chat.until(lambda: not opened(chat))
        assert chat.app.chat.composer.prompt.has_focus


async def test_the_key_folds_it_and_opens_it_whatever_the_setting() -> None:
    async with sitting(size=(160, 40)) as chat:
        await chat.until(lambda: opened(chat))
        await chat.pilot.press("f12")
        await chat.until(lambda: not opened(chat))
        await chat.resize(200, 50)
        assert not opened(chat), "the person's wish stays"
        await chat.type("/panel")
        await chat.pilot.press("enter")
        await chat.until(lambda: opened(chat))


async def test_where_there_is_no_room_the_key_says_so() -> None:
    async with sitting(size=(60, 20)) as chat:
        await chat.pilot.press("f12")
        await chat.until(lambda: f"wants {FITS_FROM} columns" in chat.notice("said"))
        assert not opened(chat)


async def test_it_shows_the_running_answer_and_its_course() -> None:
    async with sitting("ui.panel=on", size=(120, 40)) as chat:
        await chat.until(lambda: opened(chat))
        await chat.send("x")
        for speed in (90.0, 110.0, 131.0):
            chat.app.clock.now += 1  # type: ignore[attr-defined]
            chat.engine.piece("word ", tokens=int(speed), live_tok_s=speed)
        await chat.until(lambda: "This answer" in chat.screen_text() and "90.0 to 131.0" in chat.screen_text())
        chat.engine.done()
        await chat.until(lambda: "Last answer" in chat.screen_text() and "7.6 ms" in chat.screen_text())
        await chat.send("y")
        await chat.until(lambda: "90.0 to 131.0" not in chat.screen_text(), "the chart begins anew")


async def test_saving_the_setting_opens_and_folds_it_at_once() -> None:
    async with sitting(size=(100, 30)) as chat:
        from spark_chat.tui.messages import SettingChanged

        chat.app.post_message(SettingChanged("ui.panel", "on"))
        await chat.until(lambda: opened(chat))
        chat.app.post_message(SettingChanged("ui.panel", "off"))
        await chat.until(lambda: not opened(chat))


async def test_accessible_it_has_no_chart() -> None:
    async with sitting("ui.accessible=true", "ui.panel=on", size=(120, 30)) as chat:
        await chat.until(lambda: opened(chat))
        assert not chat.app.chat.query(Chart)


async def test_a_fork_has_the_figures_of_its_last_answer_until_the_engine_is_another() -> None:
    async with sitting(size=(160, 40)) as chat:
        await chat.send("one")
        chat.engine.answer("first")
        await chat.until(lambda: not chat.app.session.busy)
        await chat.until(lambda: "verify steps" in chat.screen_text())

        def figures() -> list[str]:
            lines = [line.split("│")[-1] for line in chat.screen_text().splitlines() if "│" in line]
            return lines[: next(at for at, line in enumerate(lines) if line.strip() == "Engine")]

        before = figures()
        assert any("tokens" in line and "-" not in line for line in before)
        chat.app.run_command("fork")
        await chat.until(lambda: "This is a fork" in chat.notice("said"))
        await chat.until(lambda: figures() == before, "the same figures")
        chat.app.run_command("new")
        await chat.until(lambda: not len(chat.app.session.conversation))
        await chat.until(lambda: any(line.split()[-2:] == ["tokens", "-"] for line in chat.screen_text().splitlines()))
