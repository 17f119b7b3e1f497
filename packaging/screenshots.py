"""Pictures of the main screens for the README and docs/, as SVG from the app itself: `python packaging/screenshots.py`.

The app that is pictured is the whole one: session, driver, meters, history, in a home folder of its own. With --model
the real engine answers, and the numbers are this machine's; without it a scripted engine does, whose tokens are
counted and timed all the same.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the app of this checkout, and the tests' scripted engine

SIZE = (100, 30)
SETTINGS_FILE = "/home/you/.config/spark-chat/settings.toml"
PATIENCE_S = 90.0
PROMPTS = (
    "Write a Python function that returns the square of a number.",
    "Explain the function in three bullet points.",
    "Now write the same function with a docstring.",
)
"""The last has an answer that repeats what was said, so that there is something to draft from."""
ENOUGH = 110
"""Characters of the last answer after which the picture is taken."""
REPEATING = "List the days of the week as a Markdown table with their number."
WORDS = (
    "Here ", "is ", "one:\n\n", "```python\n", "def ", "square", "(number: int) -> int:\n", "    return ", "number ",
    "* number\n", "```\n\n", "It multiplies ", "the number ", "by itself.\n",
)  # fmt: skip
CELL = 12.2
"""Units of the picture that one column has."""


async def _until(chat: Any, true: Callable[[], object], what: str) -> None:
    """Wait for what an engine may take a while to do."""
    async with asyncio.timeout(PATIENCE_S):
        while not true():
            await chat.pilot.pause(0.05)
    await chat.pilot.pause()


async def talk(chat: Any) -> None:
    """Answers, and a last one under way."""
    session = chat.app.session
    for prompt in PROMPTS[:-1]:
        await _ask(chat, prompt)
        await _until(chat, lambda: not session.busy, "the answer")
    await _ask(chat, PROMPTS[-1])
    await _until(chat, lambda: len(str(session.conversation.exchanges[-1].answer)) > ENOUGH or not session.busy, "more")


async def _ask(chat: Any, prompt: str) -> None:
    chat.app.chat.composer.set_text(prompt)
    await chat.pilot.press("enter")
    await chat.pilot.pause()


async def badges(chat: Any) -> None:
    """What is known of a badge."""
    await _ask(chat, REPEATING)
    await _until(chat, lambda: not chat.app.session.busy, "the answer")
    chat.app.chat.query_one("#badge-mtp").focus()
    await chat.pilot.press("enter")


async def settings(chat: Any) -> None:
    """The settings, on one of them."""
    await chat.pilot.press("f2")
    await chat.pilot.pause()
    await chat.pilot.press(*["down"] * 8)


async def lab(chat: Any) -> None:
    """A prompt that is run five times."""
    await chat.pilot.press("f6")
    await chat.pilot.pause()
    chat.app.screen.query_one("#check-prompt").text = REPEATING
    await chat.pilot.press(*["f7"] * 5, "f5")
    await _until(chat, lambda: "Kept as" in chat.screen_text(), "the runs")


async def setup(chat: Any) -> None:
    """What a first run says on a machine that is made up."""
    from spark_chat.driver.fitting import fit
    from spark_chat.driver.setup import Standing, Step
    from spark_chat.tui.setup_notice import notice
    from tests.setup.made_up import spark

    chat.app.chat.view.put(notice(Standing(fit(spark()), Step.OFFERED)))
    await chat.pilot.pause()


SHOTS: dict[str, tuple[Callable[[Any], Awaitable[None]], tuple[int, int]]] = {
    "chat": (talk, SIZE), "badges": (badges, SIZE), "settings": (settings, SIZE), "lab": (lab, (100, 36)),
    "narrow": (talk, (40, 20)), "setup": (setup, (90, 24)),
}  # fmt: skip


async def shoot(name: str, model: str) -> str:
    """The SVG of one screen."""
    from spark_chat.driver.driver import Driver
    from spark_chat.settings.resolve import resolve
    from spark_chat.tui.app import SparkApp
    from spark_chat.tui.transcript import Transcript
    from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script
    from tests.tui.sitting import Sitting

    def drive(listener: Any) -> Driver:
        if model:
            return Driver(listener)
        engine = FakeEngine(Script(words=WORDS, rate=60, drafts=1, context=8192))
        return Driver(listener, MACHINE, engine.client, FakeModels(), FakeLastRun())

    sets = ["ui.tour=false", "sampling.temperature=0", "sampling.max_tokens=220"]
    sets += [f"engine.model={model}"] if model else []
    app = SparkApp(resolve(sets, environ={"SPARK_CHAT_CONFIG": SETTINGS_FILE}), engine=drive)
    script, size = SHOTS[name]
    async with app.run_test(size=size) as pilot:
        chat = Sitting(app, pilot, [])
        await _until(chat, lambda: app.room and app.session.snapshot.phase.value == "ready", "the engine")
        app.chat.composer.prompt.cursor_blink = False
        await script(chat)
        if app.screen is app.chat:
            await _until(chat, lambda: app.session.busy or app.chat.query_one(Transcript).settled, "the transcript")
        picture = app.export_screenshot(title="spark-chat")
        await app.opening.leave()
    return small(picture, name)


def small(svg: str, name: str) -> str:
    """Without the fonts that a viewer would fetch, and with names that are the same each time."""
    svg = re.sub(r"\s*@font-face\s*\{[^}]*\}", "", svg)
    svg = re.sub(r"\s*<!--.*?-->", "", svg, flags=re.S).replace("Fira Code", "monospace")
    svg = re.sub(r"terminal-\d+", f"spark-{name}", svg)
    svg = re.sub(r'x="([\d.]+)"([^>]*?) textLength="([\d.]+)"([^>]*)>((?:&#160;)+)', _moved, svg)
    return re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d)\d{2,}", r"\1", tag[0]), svg)


def _moved(found: re.Match[str]) -> str:
    """A text that begins with spaces, begun behind them: not every viewer keeps them."""
    x, between, length, after, spaces = found.groups()
    wide = len(spaces) // len("&#160;") * CELL
    return f'x="{float(x) + wide:.1f}"{between} textLength="{max(CELL, float(length) - wide):.1f}"{after}>'


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/screenshots.py", description=__doc__)
    parser.add_argument("shots", nargs="*", metavar="SHOT", help=f"of {', '.join(SHOTS)}; all without one")
    parser.add_argument("--model", default="", help="a .gguf file: the real engine answers")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="the folder to write to (default: docs)")
    given = parser.parse_args()
    unknown = [name for name in given.shots if name not in SHOTS]
    if unknown:
        parser.error(f"there is no screen {unknown[0]}; there are {', '.join(SHOTS)}")
    model = str(Path(given.model).resolve()) if given.model else ""
    for name in given.shots or SHOTS:
        with tempfile.TemporaryDirectory(prefix="spark-chat-shots.") as home:
            os.environ.update({f"XDG_{kind}_HOME": f"{home}/{kind}" for kind in ("CONFIG", "DATA", "STATE", "CACHE")})
            os.environ["HOME"] = home
            path = given.out / f"{name}.svg"
            path.write_text(asyncio.run(shoot(name, model)), encoding="utf-8")
            print(f"{path} ({path.stat().st_size / 1000:.0f} kB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
