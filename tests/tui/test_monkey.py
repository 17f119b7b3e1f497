"""Random keys, pastes, resizes, focus changes, clicks, drags and themes while text streams: it never crashes.

Seeded; `SPARK_CHAT_MONKEY_S` sets how long (5 s, or 60 in CI's long run), `SPARK_CHAT_MONKEY_SEED` another seed.
"""

from __future__ import annotations

import os
import random
import time

import pytest
from textual.events import AppBlur, AppFocus, MouseDown, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp, Paste

from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")

SECONDS = float(os.environ.get("SPARK_CHAT_MONKEY_S", "5"))
SEED = int(os.environ.get("SPARK_CHAT_MONKEY_SEED", "20261130"))
PIECES = (
    "word ", "and ", "\n\n", "# head\n", "- item\n", "```python\nx = 1\n", "```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "[/INST] [link=x] ", "\x1b]52;c;aGk=\x07", "\x1b[2J", "\u202e", "日本語", "**bold", "` ``", "1. one\n   1. two\n",
    "<b>",
)  # fmt: skip
KEYS = (
    *"abc /[]", "enter", "escape", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "pageup",
    "pagedown", "shift+up", "shift+down", "ctrl+home", "ctrl+end", "backspace", "delete", "ctrl+j", "ctrl+p", "ctrl+n",
    "ctrl+g", "ctrl+t", "f1", "f2", "f5", "space", "ctrl+z", "ctrl+a", "ctrl+u", "ctrl+w", "alt+o", "q",
    "alt+up", "alt+down", "f3", "ctrl+d", "ctrl+r", "ctrl+t", "r", "e", "n", "1", "m",
)  # fmt: skip
PASTES = ("one line", "two\nlines\r\n", "[/ [b", "\x1b[31m", "x" * 5000, "/quit", "\x00\x85\u2028")
SIZES = ((120, 40), (80, 24), (40, 20), (20, 5), (200, 60), (1, 1), (300, 80))


class Stream:
    """Tokens for whatever was asked last; now and then an end, a failure, a restart."""

    def __init__(self, chat: Sitting, chance: random.Random) -> None:
        self.chat, self.chance, self.pieces = chat, chance, 0

    def flow(self) -> None:
        """What comes in a hundredth of a second. The app calls it by its own timer, whatever else it does then."""
        self.chat.app.clock.now += 0.01  # type: ignore[attr-defined]
        engine, chance = self.chat.engine, self.chance
        if engine.snapshot.answering is None:
            return
        self.pieces += 1
        engine.piece(chance.choice(PIECES), "thought " if chance.random() < 0.1 else "")
        happens = chance.random()
        if happens < 0.01:
            engine.done()
        elif happens < 0.012:
            engine.overflow(9000, 8192)
        elif happens < 0.014:
            engine.done(finish="failed")
            engine.fail("It died.", "[/INST] log")
            engine.ready()


async def mischief(chat: Sitting, chance: random.Random) -> None:
    """One random thing."""
    pilot, app = chat.pilot, chat.app
    width, height = app.size
    x, y = chance.randrange(width), chance.randrange(height)
    kind = chance.randrange(14)
    if kind < 7:
        await pilot.press(*(chance.choice(KEYS) for _ in range(chance.randrange(1, 6))))
    elif kind == 7:
        (app.focused or app.screen).post_message(Paste(chance.choice(PASTES)))
    elif kind == 8:
        await pilot.resize_terminal(*chance.choice(SIZES))
    elif kind == 9:
        app.post_message(AppBlur())
        app.post_message(AppFocus())
    elif kind == 10:
        app.theme = chance.choice(sorted(app.available_themes))
    elif kind == 11:
        wheel = chance.choice((MouseScrollUp, MouseScrollDown))
        app.post_message(wheel(None, x, y, 0, 0, 0, False, False, False, x, y))
    else:
        to_x, to_y = chance.randrange(width), chance.randrange(height)
        for event, at in ((MouseDown, (x, y)), (MouseMove, (to_x, to_y)), (MouseUp, (to_x, to_y))):
            app.post_message(event(None, *at, to_x - x, to_y - y, 1, False, False, False, *at))
    await pilot.pause()


async def test_a_monkey_at_the_keyboard_never_breaks_it() -> None:
    chance = random.Random(SEED)
    async with sitting(size=(100, 30)) as chat:

        async def stay() -> None:
            """A monkey that finds the way out is sent back."""

        chat.app.opening.leave = stay  # type: ignore[method-assign]
        await chat.send("begin")
        stream = Stream(chat, random.Random(SEED + 1))
        streaming = chat.app.set_interval(0.01, stream.flow)
        ends, count = time.monotonic() + SECONDS, 0
        while time.monotonic() < ends or count < 5 or not stream.pieces:
            await mischief(chat, chance)
            count += 1
            assert chat.app.is_running, f"it ended after {count} things, seed {SEED}"
        streaming.stop()
        while chat.app.screen is not chat.app.chat:
            chat.app.pop_screen()
            await chat.pilot.pause()
        await chat.resize(100, 30)
        chat.app.chat.composer.set_text("")
        chat.app.chat.composer.focus()
        await chat.type("still alive")
        await chat.until(lambda: "still alive" in chat.screen_text())
