"""Settings while the chat runs: changed on the screen, changed elsewhere, broken, overridden."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from spark_chat import locations
from spark_chat.optimizations.optimization import State
from spark_chat.settings import schema
from spark_chat.settings.template import template
from spark_chat.tui.screens.settings import SettingsScreen
from tests.tui.fake_driver import badges
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


def settings_file() -> Path:
    return locations.settings_file()


async def open_settings(chat: Sitting, key: str) -> OptionList:
    """The settings screen, on the row of `key`."""
    await chat.pilot.press("f2")
    await chat.until(lambda: isinstance(chat.app.screen, SettingsScreen) and chat.app.screen.query(OptionList))
    rows = chat.app.screen.query_one(OptionList)
    await chat.until(lambda: rows.option_count > 10)
    rows.highlighted = rows.get_option_index(key)
    await chat.pilot.pause()
    return rows


async def test_a_toggle_changes_one_line_waits_and_one_key_restarts_with_the_conversation() -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(template() + "# mine\n")
    before = settings_file().read_text().splitlines()
    async with sitting(size=(120, 40)) as chat:
        await chat.send("remember me")
        chat.engine.answer("kept")
        await chat.until(lambda: not chat.app.session.busy)
        await open_settings(chat, "optimizations.mtp")
        await chat.pilot.press("enter")
        await chat.until(lambda: "→ mtp" in chat.screen_text())
        row = next(line for line in chat.screen_text().splitlines() if "→ mtp" in line)
        assert row.split()[1:] == ["mtp", "on,", "n-gram", "off", "on"], "running, saved, default"
        assert "takes effect at restart" in chat.screen_text()
        after = settings_file().read_text().splitlines()
        assert [line for line in after if line not in before] == ["mtp = false"]
        assert len(after) == len(before) + 1 and after[-1] == "# mine"
        await chat.pilot.press("escape")
        await chat.until(lambda: "pending" in chat.notices)
        await chat.until(lambda: "● n-gram, off at restart" in chat.screen_text() or "→off" in chat.screen_text())
        assert "1 change pending" in chat.screen_text()
        assert len(chat.engine.started) == 1, "nothing restarts by itself"
        await chat.pilot.press("f5")
        await chat.until(lambda: len(chat.engine.started) == 2)
        assert chat.engine.started[1].optimizations.mtp is False
        await chat.until(lambda: "pending" not in chat.notices)
        assert "kept" in chat.screen_text() and "1 change pending" not in chat.screen_text()
        await chat.send("and now")
        assert chat.engine.asked[-1][1] == ["remember me", "kept", "and now"]


async def test_changes_are_batched_into_one_restart() -> None:
    async with sitting() as chat:
        for key in ("optimizations.mtp", "optimizations.strict"):
            await open_settings(chat, key)
            await chat.pilot.press("enter")
            await chat.until(lambda key=key: any(change.row.key == key for change in chat.app.room.pending))  # type: ignore[misc, union-attr]
            await chat.pilot.press("escape")
        await chat.until(lambda: "2 changes pending" in chat.screen_text() or "2 pending" in chat.screen_text())
        assert "optimizations.mtp on → off; optimizations.strict off → on" in chat.notice("pending")
        await chat.pilot.press("f5")
        await chat.until(lambda: len(chat.engine.started) == 2)
        assert chat.engine.started[1].optimizations.strict is True


async def test_a_number_is_typed_checked_and_takes_effect_with_the_next_prompt() -> None:
    async with sitting() as chat:
        await open_settings(chat, "sampling.temperature")
        await chat.pilot.press("enter")
        field = chat.app.screen.query_one(Input)
        await chat.until(lambda: field.has_focus)
        field.value = "7"
        await chat.pilot.press("enter")
        await chat.until(lambda: "from 0 to 5" in chat.screen_text())
        assert not settings_file().exists() or "temperature = 7" not in settings_file().read_text()
        await chat.until(lambda: field.has_focus and field.value == "7", "it can be put right")
        assert "enter keep" in chat.screen_text()
        field.value = "0.25"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.session.settings.sampling.temperature == 0.25)
        assert "temperature = 0.25" in settings_file().read_text()
        assert "from 0 to 5" not in chat.screen_text() and "enter change" in chat.screen_text()
        await chat.pilot.press("backspace")
        await chat.until(lambda: chat.app.session.settings.sampling.temperature == 0.6)


async def test_a_choice_goes_round_and_back() -> None:
    async with sitting() as chat:
        await open_settings(chat, "engine.kind")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.choices.resolved.saved.engine.kind == "llama.cpp")
        await chat.pilot.press("left")
        await chat.until(lambda: chat.app.choices.resolved.saved.engine.kind == "auto")


async def test_engine_arguments_are_edited_as_a_table() -> None:
    async with sitting() as chat:
        await open_settings(chat, "engine.args")
        await chat.pilot.press("enter")
        chat.app.screen.query_one(Input).value = "{ n_batch = 512 }"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.choices.resolved.settings.engine.args == {"n_batch": 512})
        await chat.pilot.press("enter")
        assert chat.app.screen.query_one(Input).value == "{ n_batch = 512 }"


async def test_a_value_that_a_flag_stands_over_is_shown_so() -> None:
    async with sitting("sampling.top_k=7", environ={"SPARK_CHAT__OPTIMIZATIONS__MTP": "0"}) as chat:
        chat.engine.say(badges=badges(State.OFF))
        await open_settings(chat, "optimizations.mtp")
        await chat.until(lambda: "! mtp" in chat.screen_text())
        assert "SPARK_CHAT__OPTIMIZATIONS__MTP stands over what is saved" in " ".join(chat.screen_text().split())
        row = next(line for line in chat.screen_text().splitlines() if "! mtp" in line)
        assert row.split()[2:] == ["off", "on", "on"]


async def test_a_file_changed_elsewhere_is_noticed_and_waits() -> None:
    async with sitting() as chat:
        settings_file().parent.mkdir(parents=True, exist_ok=True)
        settings_file().write_text("[optimizations]\nmtp = false\n[sampling]\ntop_k = 3\n")
        await chat.until(lambda: "pending" in chat.notices)
        assert "The settings file was changed" in chat.notice("pending")
        assert chat.app.session.settings.sampling.top_k == 3
        assert len(chat.engine.started) == 1


async def test_a_file_broken_elsewhere_changes_nothing_and_a_toggle_says_why() -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("[sampling]\ntop_k = 3\n")
    async with sitting(size=(120, 40)) as chat:
        settings_file().write_text("[sampling\ntop_k = = 3\n")
        await chat.until(lambda: "problems" in chat.notices)
        assert "settings.toml line 1" in chat.notice("problems")
        assert chat.app.session.settings.sampling.top_k == 3 and not chat.app.room.pending  # type: ignore[union-attr]
        await open_settings(chat, "optimizations.mtp")
        await chat.pilot.press("enter")
        await chat.until(lambda: "settings.toml line 1" in chat.screen_text())
        assert settings_file().read_text() == "[sampling\ntop_k = = 3\n"
        settings_file().write_text("[sampling]\ntop_k = 4\n")
        await chat.until(lambda: chat.app.session.settings.sampling.top_k == 4)
        await chat.pilot.press("escape")
        await chat.until(lambda: "problems" not in chat.notices)


async def test_the_app_starts_on_defaults_over_a_broken_file_and_names_it() -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("[optimizations]\nmpt = true\ndraft_steps = 99\n")
    async with sitting() as chat:
        await chat.until(lambda: "problems" in chat.notices)
        text = chat.notice("problems")
        assert "2 settings could not be read" in text and "optimizations.mtp" in text and "1 to 7" in text
        await chat.type("typing goes on")
        await chat.pilot.press("escape")
        await chat.until(lambda: "problems" not in chat.notices)
        assert chat.app.chat.composer.text == "typing goes on"


async def test_a_configuration_that_fails_offers_the_one_that_ran_last() -> None:
    from spark_chat.settings.schema import Settings

    async with sitting() as chat:
        await open_settings(chat, "optimizations.mtp")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.room.pending)  # type: ignore[union-attr]
        chat.engine.by_itself = False
        await chat.pilot.press("f5")
        await chat.until(lambda: len(chat.engine.started) == 2)
        chat.engine.fail("The engine did not come up.", "ggml: no", last_good=Settings())
        await chat.until(lambda: "failed" in chat.notices)
        assert "go back to what ran last: optimizations.mtp off → on" in chat.notice("failed")
        assert "ggml: no" in chat.notice("failed")
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: len(chat.engine.started) == 3)
        assert chat.engine.started[2].optimizations.mtp is True
        chat.engine.ready()
        await chat.until(lambda: "1 change pending" in chat.screen_text() or "1 pending" in chat.screen_text())
        assert "Putting it back changes optimizations.mtp off → on" in chat.notice("pending")
        assert "mtp = false" in settings_file().read_text()
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: not chat.app.room.pending)  # type: ignore[union-attr]
        await chat.until(lambda: "pending" not in chat.notices)
        assert "\nmtp = false" not in settings_file().read_text()


async def test_a_theme_that_is_picked_is_used_and_saved() -> None:
    async with sitting() as chat:
        await chat.type("/theme spark-light")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.theme == "spark-light")
        await chat.until(lambda: settings_file().exists() and 'theme = "spark-light"' in settings_file().read_text())
        await chat.type("/theme spark-lihgt")
        await chat.pilot.press("enter")
        await chat.until(lambda: "Did you mean spark-light?" in chat.notice("said"))


async def test_a_theme_that_is_nowhere_is_named() -> None:
    async with sitting("ui.theme=spark-drak") as chat:
        await chat.until(lambda: "problems" in chat.notices)
        assert "Did you mean spark-dark?" in chat.notice("problems")


@pytest.mark.parametrize("size", [(80, 24), (40, 20), (20, 5)])
async def test_every_setting_can_be_reached_at_every_size(size: tuple[int, int]) -> None:
    async with sitting(size=size) as chat:
        rows = await open_settings(chat, "ui.history")
        await chat.until(lambda: "history" in chat.screen_text())
        assert rows.option_count == len(list(schema.rows())) + len(list(schema.sections()))


async def test_the_open_screen_follows_the_engine() -> None:
    async with sitting(size=(120, 40)) as chat:
        await open_settings(chat, "engine.model")

        def running(name: str) -> str:
            return next(line for line in chat.screen_text().splitlines() if f" {name} " in line)

        await chat.until(lambda: "on, n-gram" in running("mtp"))
        chat.engine.say(badges=badges(State.FAILED))
        await chat.until(lambda: "failed" in running("mtp"))
        chat.engine.fail("It died.")
        await chat.until(lambda: "not running" in running("mtp") and "not running" in running("context"))
        chat.engine.ready()
        await chat.until(lambda: "on, n-gram" in running("mtp") and "8192" in running("context"))
