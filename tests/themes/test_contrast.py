"""What is really drawn can be read: the contrast of each piece of text on the screen, in every theme of ours.

Ratios are WCAG 2.2's. A theme of the terminal's own colours is measured on two common palettes for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.geometry import Region
from textual.widget import Widget

from spark_chat.driver.snapshot import Phase
from spark_chat.optimizations.optimization import State
from spark_chat.tui.themes import load
from spark_chat.tui.widgets.badge import BadgeWidget
from spark_chat.tui.widgets.meters import Meters
from spark_chat.tui.widgets.notice import NoticePanel
from tests.themes.test_shipped import SHIPPED
from tests.tui.fake_driver import badges
from tests.tui.sitting import Sitting, sitting

pytestmark = pytest.mark.usefixtures("home")

RGB = tuple[int, int, int]
DIM = 0.5
"""What terminals leave of the distance to the background where text is dim: xterm, kitty and VTE a half."""

XTERM = TerminalTheme(
    (0, 0, 0), (229, 229, 229),
    [(0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)],
    [(127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
     (255, 255, 255)],
)  # fmt: skip
LIGHT = TerminalTheme(
    (255, 255, 255), (23, 20, 33),
    [(23, 20, 33), (192, 28, 40), (38, 162, 105), (162, 115, 76), (18, 72, 139), (163, 71, 186), (42, 161, 179),
     (208, 207, 204)],
    [(94, 92, 100), (246, 97, 81), (51, 218, 122), (233, 173, 12), (42, 123, 222), (192, 97, 203), (51, 199, 222),
     (255, 255, 255)],
)  # fmt: skip
"""GNOME's palette on white."""


def luminance(color: RGB) -> float:
    parts = [value / 255 for value in color]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: RGB, other: RGB) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colours(style: Style, palette: TerminalTheme) -> tuple[RGB, RGB]:
    """Text and ground as a terminal of that palette shows them."""
    text, ground = (
        tuple((color or Color.default()).get_truecolor(palette, foreground=front))
        for color, front in ((style.color, True), (style.bgcolor, False))
    )
    if style.reverse:
        text, ground = ground, text
    if style.dim:
        text = tuple(round(back + (front - back) * DIM) for front, back in zip(text, ground, strict=True))
    return text, ground  # type: ignore[return-value]


def drawn(widget: Widget) -> Iterator[Segment]:
    """The segments with letters or digits that the widget draws."""
    for strip in widget.render_lines(Region(0, 0, *widget.outer_size)):
        yield from (segment for segment in strip if any(char.isalnum() for char in segment.text))


def palette(name: str) -> TerminalTheme:
    return LIGHT if "light" in name else XTERM


async def everything(chat: Sitting) -> None:
    """A chat with a notice, an answer that runs, and a badge in each state."""
    await chat.send("Derive 17 × 23.")
    chat.engine.piece("17 × 23 = **391**, see `x`\n\n", live_tok_s=120.0)
    chat.app.clock.now += 1  # type: ignore[attr-defined]
    chat.engine.piece("and on", live_tok_s=131.0)
    warned = replace(badges(warning="Accept length is 1.00.", pending="off at restart")[2], name="warned")
    kinds = (State.ACTIVE, State.OFF, State.UNAVAILABLE, State.FAILED, State.STARTING)
    states = [replace(badges()[0], name=state.value, state=state, reason="so") for state in kinds]
    chat.engine.say(badges=(*states, warned))
    await chat.until(lambda: len(chat.badges) == 6)


def wrong(widgets: list[Widget], palette: TerminalTheme, least: float) -> list[str]:
    found = []
    for widget in widgets:
        for segment in drawn(widget):
            contrast = ratio(*colours(segment.style or Style(), palette))
            if contrast < least:
                found.append(f"{widget!r} {segment.text!r} {segment.style}: {contrast:.2f}")
    return found


@pytest.mark.parametrize("name", sorted(SHIPPED))
async def test_badges_meters_and_notices_can_be_read(name: str) -> None:
    async with sitting(f"ui.theme={name}", size=(160, 30)) as chat:
        await everything(chat)
        await chat.until(lambda: chat.app.theme == name)
        chat.engine.say(phase=Phase.FAILED, log_end=("a line of the log",))
        await chat.until(lambda: "failed" in chat.notices)
        await chat.pilot.pause()
        shown = [
            *chat.app.chat.query(BadgeWidget),
            chat.app.chat.query_one(Meters),
            chat.app.chat.query_one(NoticePanel),
        ]
        assert [widget for widget in shown if not list(drawn(widget))] == []
        assert wrong(shown, palette(name), 7.0 if name == "high-contrast" else 4.5) == []


@pytest.mark.parametrize("name", sorted(SHIPPED))
async def test_the_fill_of_a_loud_badge_stands_out_from_the_screen(name: str) -> None:
    async with sitting(f"ui.theme={name}", size=(160, 30)) as chat:
        await everything(chat)
        await chat.until(lambda: chat.app.theme == name)
        loud = next(item for item in chat.app.chat.query(BadgeWidget) if item.badge.state is State.FAILED)
        calm = next(item for item in chat.app.chat.query(BadgeWidget) if item.badge.state is State.ACTIVE)
        fill = colours(next(drawn(loud)).style or Style(), palette(name))[1]
        ground = colours(next(drawn(calm)).style or Style(), palette(name))[1]
        assert ratio(fill, ground) >= 3


@pytest.mark.parametrize("name", sorted(SHIPPED))
@pytest.mark.parametrize("key", ["f1", "f2"])
async def test_help_and_settings_can_be_read(name: str, key: str) -> None:
    async with sitting(f"ui.theme={name}", size=(120, 40)) as chat:
        await chat.until(lambda: chat.app.theme == name)
        await chat.pilot.press(key)
        await chat.until(lambda: chat.app.screen is not chat.app.chat and "settings" in chat.screen_text())
        widgets = [item for item in chat.app.screen.walk_children() if not item.children and item.size.area]
        assert wrong(widgets, palette(name), 4.5) == []


def test_every_theme_is_measured(home: object) -> None:
    assert {theme for theme in load().themes} == SHIPPED
