"""The panel of a first run: the composer keeps the focus, one key goes on, and it is there once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spark_chat.driver.fitting import Facts
from spark_chat.driver.setup import SetupProblem
from spark_chat.settings import set_up
from tests.setup.made_up import Steps, plain, spark
from tests.tui.sitting import sitting

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    found = Steps()
    monkeypatch.setattr("spark_chat.driver.setup.fetched", found.fetch)
    monkeypatch.setattr("spark_chat.driver.setup.built", found.build)
    return found


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[Facts], None]:
    """The machine that the chat finds itself on."""
    return lambda facts: monkeypatch.setattr("spark_chat.tui.setting_up.facts", lambda settings: facts)


@pytest.mark.parametrize("size", [(40, 20), (80, 24), (200, 50)])
async def test_from_the_offer_to_the_start_while_the_small_model_chats(
    steps: Steps, on: Callable[[Facts], None], size: tuple[int, int]
) -> None:
    on(spark())
    async with sitting("ui.tour=true", size=size) as chat:
        await chat.until(lambda: "setup" in chat.notices)
        screen = chat.screen_text()
        assert "DGX Spark" in screen and "ctrl+g set it up" in screen and "To fetch: 66.0 GB" in screen
        assert "tour" not in chat.notices, "one thing at a time"
        assert chat.app.chat.composer.prompt.has_focus
        await chat.type("hello ")
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: steps.fetches == 1)
        await chat.until(lambda: "31.2 of 66.0 GB" in chat.notice("setup") and "ctrl+g stop" in chat.screen_text())
        assert chat.app.chat.composer.text == "hello "
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        chat.engine.answer("It answers meanwhile.")
        await chat.until(lambda: "It answers meanwhile." in chat.screen_text())
        assert set_up.standing() == set_up.BEGUN
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: steps.cancelled == 1 and "was stopped: 31.2 of 66.0 GB" in chat.notice("setup"))
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: steps.fetches == 2)
        steps.fetch_goes.set()
        await chat.until(lambda: "Building its kernels" in chat.notice("setup"))
        steps.build_goes.set()
        await chat.until(lambda: "ctrl+g start it now" in chat.screen_text())
        assert len(chat.engine.started) == 1
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: len(chat.engine.started) == 2)
        assert "setup" not in chat.notices and set_up.standing() == set_up.DONE
    async with sitting("ui.tour=true", size=size) as chat:
        await chat.until(lambda: "tour" in chat.notices)
        assert "setup" not in chat.notices, "once"


async def test_not_now_brings_the_tour_and_the_command_brings_it_back(
    steps: Steps, on: Callable[[Facts], None]
) -> None:
    on(spark())
    async with sitting("ui.tour=true") as chat:
        await chat.until(lambda: "setup" in chat.notices)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.notices == ["tour"])
        chat.app.run_command("setup")
        await chat.until(lambda: chat.notices == ["setup", "tour"])
        assert chat.screen_text().count("ctrl+g") == 1, "the key is the topmost offer's alone"
        chat.app.run_command("setup")
        await chat.until(lambda: chat.notices == ["tour"])
    async with sitting("ui.tour=true") as chat:
        await chat.until(lambda: "spark-light" in chat.app.available_themes)
        await chat.pilot.pause()
        assert "setup" not in chat.notices


async def test_hidden_it_goes_on_and_comes_back_when_it_is_over(steps: Steps, on: Callable[[Facts], None]) -> None:
    on(spark())
    async with sitting("ui.tour=true") as chat:
        await chat.until(lambda: "setup" in chat.notices)
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "31.2 of" in chat.notice("setup"))
        await chat.pilot.press("escape")
        await chat.until(lambda: "setup" not in chat.notices)
        steps.fails = SetupProblem("The disk is full.", "Free some.")
        steps.fetch_goes.set()
        await chat.until(lambda: "The disk is full." in chat.notice("setup") and "try again" in chat.screen_text())
        assert steps.cancelled == 0


async def test_left_in_the_middle_it_is_offered_at_the_next_start(steps: Steps, on: Callable[[Facts], None]) -> None:
    on(spark())
    async with sitting("ui.tour=true") as chat:
        await chat.until(lambda: "setup" in chat.notices)
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: steps.fetches == 1 and set_up.standing() == set_up.BEGUN)
    assert steps.cancelled == 1, "nothing runs on"
    on(spark(fetched=33 * 10**9))
    async with sitting("ui.tour=false") as chat:
        await chat.until(lambda: "33.0 GB of it are here" in chat.notice("setup"))
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: steps.fetches == 2)


async def test_begun_and_done_elsewhere_it_is_over(on: Callable[[Facts], None]) -> None:
    set_up.note(set_up.BEGUN)
    on(spark(path="/m", kernels=()))
    async with sitting("ui.tour=true") as chat:
        await chat.until(lambda: "tour" in chat.notices)
        assert "setup" not in chat.notices and set_up.standing() == set_up.DONE


async def test_without_a_gpu_it_says_so_and_goes_with_the_first_prompt(on: Callable[[Facts], None]) -> None:
    on(plain())
    async with sitting("ui.tour=true", size=(80, 24)) as chat:
        await chat.until(lambda: chat.notices == ["setup", "tour"])
        assert "No NVIDIA GPU here" in chat.screen_text() and "1 of 4" in chat.screen_text()
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "2 of 4" in chat.screen_text())
        await chat.send("hello")
        await chat.until(lambda: chat.notices == ["tour"])


async def test_a_named_model_is_a_choice_already_made(on: Callable[[Facts], None]) -> None:
    on(spark())
    async with sitting("ui.tour=true", "engine.model=x.gguf") as chat:
        await chat.until(lambda: "tour" in chat.notices)
        assert "setup" not in chat.notices and set_up.standing() == ""


async def test_in_accessible_mode_it_ticks_not(steps: Steps, on: Callable[[Facts], None]) -> None:
    on(spark())
    async with sitting("ui.tour=true", "ui.accessible=true") as chat:
        await chat.until(lambda: "setup" in chat.notices)
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: steps.fetches == 1)
        await chat.until(lambda: "Looking for what is here" in chat.notice("setup"), "the step, without its figures")
        assert "31.2 of 66.0 GB" not in chat.notice("setup")
        steps.fetch_goes.set()
        await chat.until(lambda: "Building its kernels" in chat.notice("setup"))
