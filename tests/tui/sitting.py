"""The chat on a test terminal, with an engine that does what the test says and a clock that stands still."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from textual.pilot import Pilot

from spark_chat.settings.resolve import resolve
from spark_chat.tui.app import SparkApp
from spark_chat.tui.widgets.badge import BadgeWidget, badge_text
from spark_chat.tui.widgets.meters import Meters
from spark_chat.tui.widgets.notice import NoticePanel
from tests.tui.fake_driver import FakeDriver

DEADLINE_S = 60.0


@dataclass
class Sitting:
    """What a test needs at hand."""

    app: SparkApp
    pilot: Pilot[Any]
    drivers: list[FakeDriver] = field(default_factory=list)

    @property
    def engine(self) -> FakeDriver:
        return self.drivers[0]

    async def until(self, true: Callable[[], object], what: str = "") -> None:
        """Wait until `true()`; fails after the deadline and says what stands on screen then."""
        ends = time.monotonic() + DEADLINE_S
        while not true():
            if time.monotonic() > ends:
                where = f"The focus is on {self.app.focused}. On screen:\n{self.screen_text()}"
                raise AssertionError(f"{what or true} did not come. {where}")
            await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if char == " " else char for char in text))

    async def send(self, text: str) -> None:
        """Write a prompt and send it."""
        before = len(self.app.session.conversation)
        self.app.chat.composer.set_text(text)
        await self.pilot.press("enter")
        await self.until(lambda: len(self.app.session.conversation) > before, "the prompt")

    async def resize(self, width: int, height: int) -> None:
        await self.pilot.resize_terminal(width, height)
        await self.until(lambda: tuple(self.app.screen.size) == (width, height), "the new size")
        await self.pilot.pause()

    def screen_text(self) -> str:
        """The screen as text, a line a row."""
        import re
        from html import unescape
        from xml.etree import ElementTree

        svg = self.app.export_screenshot()
        svg = re.sub("[\x00-\x08\x0b-\x1f]", "?", svg)
        rows: dict[float, list[tuple[float, str]]] = {}
        for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
            if "clip-path" in element.attrib:
                at = float(element.attrib["y"])
                rows.setdefault(at, []).append((float(element.attrib["x"]), element.text or ""))
        lines = []
        for _, parts in sorted(rows.items()):
            line = ""
            for x, text in sorted(parts):
                line = line.ljust(round(x / 12.2)) + unescape(text).replace("\xa0", " ")
            lines.append(line.rstrip())
        return "\n".join(lines)

    @property
    def notices(self) -> list[str]:
        """Names of the notices that stand above the composer, topmost first."""
        return [notice.name for notice in self.app.chat.query_one(NoticePanel).notices]

    def notice(self, name: str) -> str:
        """All text of one notice."""
        for notice in self.app.chat.query_one(NoticePanel).notices:
            if notice.name == name:
                return "\n".join((notice.title, *notice.body, *notice.quoted, *(" ".join(key) for key in notice.keys)))
        return ""

    @property
    def meters(self) -> str:
        return self.app.chat.query_one(Meters).render().plain

    @property
    def badges(self) -> list[str]:
        return [badge_text(item.badge, item.detail) for item in self.app.chat.query(BadgeWidget)]


@asynccontextmanager
async def sitting(
    *sets: str,
    size: tuple[int, int] = (100, 30),
    ready: bool = True,
    environ: Mapping[str, str] | None = None,
    **engine: Any,
) -> AsyncIterator[Sitting]:
    """A chat that is open. `sets`: settings, as on the command line. `ready`: its engine is up."""
    drivers: list[FakeDriver] = []

    def make(listener: Any) -> FakeDriver:
        drivers.append(FakeDriver(listener, by_itself=ready, **engine))
        return drivers[0]

    app = SparkApp(
        resolve(("ui.tour=false", *sets), environ={} if environ is None else environ), engine=make, clock=Clock()
    )
    async with app.run_test(size=size) as pilot:
        found = Sitting(app, pilot, drivers)
        await found.until(lambda: drivers and drivers[0].started and app.opening.opened, "the engine's start")
        await found.until(lambda: app.focused or not app.chat.composer.prompt.focusable, "the composer's focus")
        if ready:
            await found.until(lambda: len(found.badges) == 3, "the badges")
        await pilot.pause()
        yield found
        if app.is_running:
            await app.opening.leave()


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
