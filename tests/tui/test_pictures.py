"""Pictures of every screen, looked at by a person before they were kept: `pytest --snapshot-update` makes new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from spark_chat.driver.fitting import fit
from spark_chat.driver.setup import Standing, Step
from spark_chat.driver.snapshot import Phase
from spark_chat.optimizations.optimization import State
from spark_chat.settings.resolve import resolve
from spark_chat.tui.app import SparkApp
from spark_chat.tui.setup_notice import notice
from spark_chat.tui.transcript import Transcript
from tests.setup.made_up import spark
from tests.tui.fake_driver import FakeDriver, badges
from tests.tui.sitting import Clock, Sitting

pytestmark = pytest.mark.usefixtures("home")

SETTINGS_FILE = "/home/you/.config/spark-chat/settings.toml"
"""Reads alike on every machine."""
Script = Callable[[Sitting], Awaitable[object]]
ANSWER = """17 × 23 = 17 × 20 + 17 × 3 = **391**

```python
print(17 * 23)  # 391
```

| step | value |
|------|-------|
| 17 × 20 | 340 |
| 17 × 3 | 51 |
"""


def picture(snap_compare: Any, script: Script, size: tuple[int, int], *sets: str, ready: bool = True) -> bool:
    """Whether the chat looks as it did after `script`."""
    drivers: list[FakeDriver] = []

    def make(listener: Any) -> FakeDriver:
        drivers.append(FakeDriver(listener, by_itself=ready))
        return drivers[0]

    settings = ("ui.history=false", "ui.tour=false", *sets)
    app = SparkApp(resolve(settings, environ={"SPARK_CHAT_CONFIG": SETTINGS_FILE}), engine=make, clock=Clock())

    async def prepare(pilot: Pilot[Any]) -> None:
        chat = Sitting(app, pilot, drivers)
        view = app.chat.view
        await chat.until(lambda: app.opening.opened and drivers[0].started and app.focused, "the start")
        await chat.until(lambda: not ready or len(chat.badges) == 3, "the badges")
        app.chat.composer.prompt.cursor_blink = False
        view.machine, view.memory_all = "CPU", 24 << 30
        await script(chat)
        view.changed(app.session.snapshot)
        await pilot.pause()
        await chat.until(lambda: app.chat.query_one(Transcript).settled, "the transcript")

    return bool(snap_compare(app, terminal_size=size, run_before=prepare))


async def talk(chat: Sitting) -> None:
    """One exchange, and a second that is under way with a third behind it."""
    await chat.send("Derive 17 × 23 and show the steps.")
    chat.engine.piece("", "I split the second factor.")
    chat.engine.piece(ANSWER, reasoning_tokens=143, reasoning_s=2.1)
    chat.engine.done(cold=True, reasoning_tokens=143, reasoning_s=2.1)
    await chat.until(lambda: not chat.app.session.busy)
    await chat.send("And 19 × 21?")
    for speed in (90, 110, 125, 131, 120, 140):
        chat.app.clock.now += 1  # type: ignore[attr-defined]
        chat.engine.piece("19 × 21 = ", live_tok_s=float(speed))
    await chat.send("Then 23 × 29.")
    await chat.type("half a thought")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 20), (20, 5)])
def test_the_chat(snap_compare: Any, size: tuple[int, int]) -> None:
    assert picture(snap_compare, talk, size)


@pytest.mark.parametrize("theme", ["spark-light", "spark-ansi-dark", "spark-ansi-light", "high-contrast"])
def test_the_chat_in_every_theme(snap_compare: Any, theme: str) -> None:
    assert picture(snap_compare, talk, (100, 30), f"ui.theme={theme}")


@pytest.mark.parametrize("size", [(120, 30), (40, 24)])
def test_every_state_of_a_badge_and_what_is_known_of_one(snap_compare: Any, size: tuple[int, int]) -> None:
    async def script(chat: Sitting) -> None:
        _, head, mtp = badges(pending="off at restart", warning="Accept length is 1.00 over 64 verify steps.")
        failed = replace(badges()[0], state=State.FAILED, reason="Not one Humming kernel ran.", requested=True)
        counters = {"verify_steps": 412, "accepted_drafts": 341, "accept_length": 1.83}
        chat.engine.say(badges=(failed, replace(head, state=State.OFF), replace(mtp, counters=counters)))
        await chat.pilot.pause()
        chat.app.chat.query_one("#badge-mtp").focus()
        await chat.pilot.press("enter")

    assert picture(snap_compare, script, size)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 20)])
def test_settings(snap_compare: Any, size: tuple[int, int]) -> None:
    async def script(chat: Sitting) -> None:
        await chat.pilot.press("f2")
        await chat.until(lambda: "temperature" in chat.screen_text() or size[1] < 30)
        await chat.pilot.press("down", "down")

    assert picture(snap_compare, script, size, "optimizations.draft_steps=5")


def test_help(snap_compare: Any) -> None:
    async def script(chat: Sitting) -> None:
        await chat.pilot.press("f1")
        await chat.until(lambda: "Commands" in chat.screen_text())

    assert picture(snap_compare, script, (100, 60))


def test_a_start_with_a_prompt_that_waits(snap_compare: Any) -> None:
    async def script(chat: Sitting) -> None:
        chat.engine.progress("reading the weights, 31.2 of 66.1 GB", 0.47)
        await chat.send("Hello?")

    assert picture(snap_compare, script, (100, 24), ready=False)


def test_a_first_run(snap_compare: Any) -> None:
    async def script(chat: Sitting) -> None:
        chat.app.started_before = False
        chat.engine.progress("Fetching SmolLM2-135M-Instruct, 23.2 of 92.9 MB", 0.25, Phase.FETCHING)

    assert picture(snap_compare, script, (100, 24), ready=False)


@pytest.mark.parametrize("size", [(80, 24), (40, 20)])
def test_a_first_run_on_a_spark(snap_compare: Any, size: tuple[int, int]) -> None:
    async def script(chat: Sitting) -> None:
        chat.app.chat.view.put(notice(Standing(fit(spark()), Step.OFFERED)))

    assert picture(snap_compare, script, size)


def test_a_failure(snap_compare: Any) -> None:
    async def script(chat: Sitting) -> None:
        await chat.send("Hello?")
        log = ("llama_model_load: loading", "ggml_backend: out of memory", "[/INST] [link=x] \x1b[2J")
        chat.engine.fail("The engine died (killed by signal 9).", *log)

    assert picture(snap_compare, script, (100, 24))
