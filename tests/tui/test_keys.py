"""Keys and pastes reach what they are for, wherever the focus is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.events import Paste

from spark_chat.tui.transcript import Transcript
from spark_chat.tui.widgets.badge import BadgeWidget
from spark_chat.tui.widgets.proof import ProofPanel
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


async def long_answer(chat: Sitting) -> Transcript:
    await chat.send("a long one")
    for number in range(80):
        chat.engine.piece(f"line {number}\n\n")
    transcript = chat.app.chat.query_one(Transcript)
    await chat.until(lambda: "line 79" in chat.screen_text())
    return transcript


async def test_the_composer_has_the_focus_at_the_start() -> None:
    async with sitting() as chat:
        assert chat.app.focused is chat.app.chat.composer.prompt


async def test_paging_from_the_prompt_keeps_the_place_while_text_comes_and_end_goes_back() -> None:
    async with sitting() as chat:
        transcript = await long_answer(chat)
        await chat.type("half a thought")
        await chat.pilot.press("pageup")
        await chat.until(lambda: transcript.has_more_below)
        at = transcript.scroll_offset.y
        for number in range(80, 120):
            chat.engine.piece(f"line {number}\n\n")
        await chat.until(lambda: transcript.virtual_size.height > at + 100)
        assert transcript.scroll_offset.y == at, "new text must not move what is read"
        assert "more below" in chat.screen_text()
        await chat.pilot.press("end")
        await chat.until(lambda: "line 119" in chat.screen_text())
        assert chat.app.chat.composer.text == "half a thought"
        chat.engine.piece("and on\n\n")
        await chat.until(lambda: "and on" in chat.screen_text())


async def test_end_within_a_line_is_the_composers() -> None:
    async with sitting() as chat:
        transcript = await long_answer(chat)
        await chat.type("abc")
        await chat.pilot.press("left", "left", "shift+up")
        await chat.until(lambda: transcript.has_more_below)
        await chat.pilot.press("end")
        await chat.type("d")
        assert chat.app.chat.composer.text == "abcd" and transcript.has_more_below


async def test_follow_off_never_moves_the_view() -> None:
    async with sitting("ui.follow=false") as chat:
        await chat.send("x")
        chat.engine.piece("line\n\n" * 100)
        transcript = chat.app.chat.query_one(Transcript)
        await chat.until(lambda: transcript.has_more_below)
        assert transcript.scroll_offset.y == 0


async def test_tab_reaches_the_badges_and_typing_there_goes_to_the_composer() -> None:
    async with sitting() as chat:
        await chat.pilot.press("shift+tab")
        assert isinstance(chat.app.focused, BadgeWidget)
        await chat.type("hello")
        assert chat.app.chat.composer.text == "hello"
        assert chat.app.focused is chat.app.chat.composer.prompt


async def test_a_paste_over_a_badge_goes_to_the_composer_and_is_not_sent() -> None:
    async with sitting() as chat:
        await chat.pilot.press("shift+tab")
        assert chat.app.focused is not None
        chat.app.focused.post_message(Paste("one\ntwo\n"))
        await chat.until(lambda: chat.app.chat.composer.text == "one\ntwo\n")
        assert not chat.engine.asked


async def test_enter_on_a_badge_opens_what_is_known_and_escape_closes_it() -> None:
    async with sitting() as chat:
        chat.app.chat.query_one("#badge-mtp").focus()
        await chat.pilot.press("enter")
        await chat.until(lambda: "ngram_mod" in chat.screen_text())
        text = chat.screen_text()
        for word in ("asked for", "runs", "● ACTIVE", "proof", "costs", "gains", "published", "2.68"):
            assert word in text
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.app.chat.query(ProofPanel))
        assert chat.app.focused is chat.app.chat.composer.prompt


async def test_a_click_opens_a_badge_and_the_panel_follows_the_counters() -> None:
    async with sitting() as chat:
        await chat.pilot.click("#badge-mtp")
        await chat.until(lambda: chat.app.chat.query(ProofPanel))
        first, second, mtp = chat.engine.snapshot.badges
        chat.engine.say(badges=(first, second, replace(mtp, counters={"verify_steps": 412, "accept_length": 1.83})))
        await chat.until(lambda: "verify steps 412" in chat.screen_text())
        await chat.type("meanwhile")
        assert chat.app.chat.composer.text == "meanwhile"


async def test_a_panel_longer_than_its_room_is_scrolled_from_the_badge_and_opens_again() -> None:
    async with sitting(size=(60, 16)) as chat:
        for _ in range(2):
            chat.app.chat.query_one("#badge-mtp").focus()
            await chat.pilot.press("enter")
            await chat.until(lambda: chat.app.chat.view.proof is not None and chat.app.chat.view.proof.max_scroll_y > 0)
            panel = chat.app.chat.view.proof
            assert panel is not None
            await chat.pilot.press("pagedown", "down")
            await chat.until(lambda panel=panel: panel.scroll_offset.y > 0)  # type: ignore[misc]
            await chat.pilot.press("escape")
            await chat.until(lambda: chat.app.chat.view.proof is None)


async def test_the_engines_own_figures_stand_beside_ours() -> None:
    async with sitting() as chat:
        await chat.send("x")
        counters = {"verify_steps": 412, "accept_length": 1.83}
        chat.engine.say(
            badges=(*chat.engine.snapshot.badges[:2], replace(chat.engine.snapshot.badges[2], counters=counters))
        )
        chat.engine.done(engine_figures={"spec_accept_length": 2.65})
        await chat.pilot.click("#badge-mtp")
        await chat.until(lambda: "spec accept length 2.65 (its own count" in " ".join(chat.screen_text().split()))
        assert "accept length 1.83" in chat.screen_text()


async def test_an_unavailable_badge_says_why() -> None:
    async with sitting() as chat:
        await chat.pilot.click("#badge-fp8_head")
        await chat.until(lambda: "needs SGLang on an NVIDIA GPU" in chat.screen_text())
        assert "– UNAVAILABLE" in chat.screen_text() and "Q6_K" in chat.screen_text()


async def test_keys_can_be_moved_by_their_ids() -> None:
    async with sitting() as chat:
        chat.app.set_keymap({"chat.help": "f9"})
        await chat.pilot.press("f9")
        await chat.until(lambda: "Commands" in chat.screen_text())


async def test_ctrl_c_over_something_written_clears_nothing_and_says_so() -> None:
    async with sitting() as chat:
        await chat.type("half a thought")
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: "ctrl+c again to quit; what is written stays" in chat.notice("said"))
        assert chat.app.chat.composer.text == "half a thought"


@pytest.mark.parametrize("key", ["a", "space", "left", "shift+enter", "backspace", "pageup", "escape", "paste"])
@pytest.mark.parametrize("focus", ["prompt", "badge"])
async def test_anything_between_two_ctrl_c_disarms_the_first(key: str, focus: str) -> None:
    async with sitting() as chat:
        if focus == "badge":
            chat.app.chat.query_one("#badge-mtp").focus()
            await chat.pilot.pause()
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: "ctrl+c again" in chat.screen_text())
        if key == "paste":
            assert chat.app.focused is not None
            chat.app.focused.post_message(Paste("text"))
            await chat.until(lambda: chat.app.chat.composer.text == "text")
        else:
            await chat.pilot.press(key)
        await chat.pilot.press("ctrl+c")
        await chat.pilot.pause()
        assert chat.app.is_running and not chat.engine.closed
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: not chat.app.is_running)
