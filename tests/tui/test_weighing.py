"""What is written, weighed: by the engine's count or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_chat.driver.snapshot import Phase
from spark_chat.tui.composer.hint import Hint, Now, Weight, hint_text
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")


def hint(chat: Sitting) -> str:
    shown = chat.app.chat.query_one(Hint)
    return hint_text(shown.now, chat.app.size.width)


@pytest.mark.parametrize(
    ("now", "width", "text"),
    [
        (Now(), 80, "enter send · ctrl+p commands"),
        (Now(), 60, ""),
        (Now(answering=True), 80, "esc stop · ctrl+p commands"),
        (Now(empty=False, pasted=True), 40, "enter sends"),
        (Now(empty=False, slots=True), 40, "tab next"),
        (Now(empty=False, weight=Weight(312, 1_200, 8_192)), 80, "312 tok · 7.0k left"),
        (Now(empty=False, weight=Weight(312, 1_200, 8_192)), 40, "312 tok"),
        (Now(empty=False, weight=Weight(9_000, 9_100, 8_192)), 40, "908 tok too many"),
        (Now(empty=False, counting=7), 80, "      …"),
        (Now(empty=False, weight=Weight(1, 1, 2)), 39, ""),
        (Now(weight=Weight(1, 1, 2)), 80, "enter send · ctrl+p commands"),
    ],
)
def test_what_the_hint_says(now: Now, width: int, text: str) -> None:
    assert hint_text(now, width) == text


async def test_what_is_written_is_counted_with_the_conversation_against_what_is_left() -> None:
    async with sitting() as chat:
        await chat.send("one two")
        chat.engine.answer("three four five")
        await chat.until(lambda: not chat.app.session.busy)
        await chat.type("six seven")
        await chat.until(lambda: "2 tok" in hint(chat))
        assert hint(chat) == "2 tok · 8.2k left"
        weight = chat.app.chat.query_one(Hint).now.weight
        assert weight == Weight(2, 2 + 3 + 3 + 3 + 2 + 3, 8192)
        await chat.type("x")
        assert "2 tok" not in hint(chat), "a count of another text is never shown"
        await chat.pilot.press("ctrl+u")
        await chat.until(lambda: hint(chat).startswith("enter send"))


async def test_what_does_not_fit_is_said_at_once() -> None:
    async with sitting() as chat:
        chat.app.chat.composer.set_text("word " * 9_000)
        await chat.until(lambda: "812 tok too many" in chat.screen_text() or "tok too many" in hint(chat))
        assert hint(chat) == f"{9_000 + 3 - 8_192:,} tok too many"


async def test_without_an_engine_or_while_it_answers_there_is_no_count() -> None:
    async with sitting(ready=False) as chat:
        chat.engine.say(phase=Phase.STARTING)
        await chat.type("hello")
        await chat.app.weighing.weigh()
        assert hint(chat) == "" and chat.engine.counts == 0
        chat.engine.ready()
        await chat.until(lambda: hint(chat).startswith("1 tok"), "the count once the engine is up")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        await chat.type("more")
        counts = chat.engine.counts
        await chat.app.weighing.weigh()
        assert "tok" not in hint(chat) and chat.engine.counts == counts
        chat.engine.done()
        await chat.until(lambda: hint(chat).startswith("1 tok"), "the count once it is answered")


async def test_a_file_s_chip_says_its_tokens(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a.md").write_text("one two three\n")
    monkeypatch.chdir(home)
    async with sitting() as chat:
        chat.app.run_command("attach", "a.md")
        await chat.until(lambda: "@a.md · 14 B · 1 line" in chat.screen_text())
        before = chat.screen_text()
        await chat.until(lambda: "@a.md · 6 tok · 14 B" in chat.screen_text())
        row, counted = (
            next(line for line in text.splitlines() if "@a.md" in line) for text in (before, chat.screen_text())
        )
        assert len(row.partition("tok")[0]) and counted.index("6 tok") == row.index("14 B"), "nothing moves"


async def test_accessible_nothing_is_repainted_by_itself() -> None:
    async with sitting("ui.accessible=true") as chat:
        await chat.type("hello")
        await chat.pilot.pause()
        assert chat.engine.counts == 0 and hint(chat) == ""
