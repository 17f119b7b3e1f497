"""The themes that come with the app load without a word and can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.color import Color
from textual.theme import Theme
from textual.widgets import Input, Markdown, OptionList

from spark_chat.settings.schema import Settings
from spark_chat.tui.themes import load

SHIPPED = {"spark-dark", "spark-light", "high-contrast", "spark-ansi-dark", "spark-ansi-light"}
COLOURED = sorted(name for name in SHIPPED if "ansi" not in name)
TEXT = (
    "primary", "secondary", "accent", "success", "warning", "error", "foreground",
    "text-primary", "text-secondary", "text-accent", "text-success", "text-warning", "text-error", "text-muted",
    "footer-key-foreground", "footer-description-foreground", "link-color",
    "markdown-h1-color", "markdown-h2-color", "markdown-h3-color",
)  # fmt: skip
PAIRS = (
    ("block-cursor-foreground", "block-cursor-background"),
    ("input-cursor-foreground", "input-cursor-background"),
    ("input-selection-foreground", "input-selection-background"),
    ("link-color-hover", "link-background-hover"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
)


def luminance(color: Color) -> float:
    """Relative luminance, WCAG 2.2."""

    def linear(value: int) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)


def contrast(one: str, other: str) -> float:
    """Contrast ratio, WCAG 2.2: 1 to 21."""
    first, second = Color.parse(one), Color.parse(other)
    assert first.a == second.a == 1, (one, other)
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def shipped(name: str) -> Theme:
    return load().themes[name]


def test_the_formula_agrees_with_the_known_values() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_all_load_without_a_problem_and_the_default_is_there(home: Path) -> None:
    found = load()
    assert found.problems == ()
    assert set(found.themes) == SHIPPED
    assert Settings().ui.theme in found.themes


@pytest.mark.parametrize("name", COLOURED)
def test_every_text_can_be_read_on_every_background(home: Path, name: str) -> None:
    colors = shipped(name).to_color_system().generate()
    least = 7.0 if name == "high-contrast" else 4.5
    for background in ("background", "surface", "panel", "footer-background"):
        for text in TEXT:
            ratio = contrast(colors[text], colors[background])
            assert ratio >= least, f"{text} on {background}: {ratio:.2f}"
    for text, background in PAIRS:
        assert contrast(colors[text], colors[background]) >= 4.5, (text, background)


@pytest.mark.parametrize("name", COLOURED)
def test_states_are_not_told_by_one_hue_alone(home: Path, name: str) -> None:
    """The colours of a badge's states differ from each other, and from muted text."""
    colors = shipped(name).to_color_system().generate()
    states = [colors[key] for key in ("text-success", "text-warning", "text-error", "text-accent", "text-muted")]
    assert len(set(states)) == len(states)


@pytest.mark.parametrize("name", sorted(SHIPPED))
async def test_the_stylesheet_takes_it(home: Path, name: str) -> None:
    class Bare(App[None]):
        def compose(self) -> ComposeResult:
            yield Input()
            yield OptionList("one", "two")
            yield Markdown("# One\n\n## Two\n\n[a link](x)")

    app = Bare()
    async with app.run_test() as pilot:
        app.register_theme(shipped(name))
        app.theme = name
        await pilot.pause()
        assert app.current_theme.name == name


def test_ansi_themes_leave_the_terminal_s_own_background(home: Path) -> None:
    for name in ("spark-ansi-dark", "spark-ansi-light"):
        theme = shipped(name)
        assert theme.ansi
        assert (theme.background, theme.foreground) == ("ansi_default", "ansi_default")
    assert shipped("spark-ansi-dark").dark
