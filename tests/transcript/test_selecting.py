"""The mouse selects text, not what the screen draws around it."""

from __future__ import annotations

from textual.pilot import Pilot

from spark_chat.tui.transcript import Restored, Transcript
from tests.transcript.host import Host, screen, settle

GUTTER = 10
CODE = "def f(x):\n    if x:\n        return 'long enough to wrap in eighty columns, which this"
CODE += " line does' + 'for sure it does'\n"


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> str | None:
    await pilot.mouse_down(offset=start)
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await pilot.pause()
    return pilot.app.screen.get_selected_text()


async def fill(pilot: Pilot[None], app: Host, *entries: Restored) -> None:
    app.transcript.restore(entries)
    await settle(pilot)
    await pilot.pause()


async def test_a_part_of_a_line() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await fill(pilot, app, Restored("answer", "a", "Some **bold** words here."))
        assert await drag(pilot, (15, 0), (25, 0)) == "bold words "


async def test_wrapped_lines_are_one_line() -> None:
    app = Host()
    text = " ".join(f"word{n}" for n in range(40))
    async with app.run_test(size=(64, 24)) as pilot:
        await fill(pilot, app, Restored("answer", "a", "First.\n\n" + text + "\n\nLast."))
        assert await drag(pilot, (10, 2), (15, 5)) == joined(screen(app.transcript)[2:6])


def joined(lines: list[str]) -> str:
    """Rows with the gutter taken off, up to the sixth character of the last one."""
    rows = [line[GUTTER:] for line in lines]
    rows[-1] = rows[-1][:6]
    return " ".join(rows)


async def test_lines_of_code_come_as_they_were_written() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await fill(pilot, app, Restored("answer", "a", f"Before.\n\n```python\n{CODE}```\n\nAfter."))
        assert "return" in screen(app.transcript)[5], screen(app.transcript)
        assert await drag(pilot, (10, 3), (77, 6)) == CODE.rstrip("\n")
        assert await drag(pilot, (12, 4), (77, 4)) == "    if x:"


async def test_whole_blocks_come_as_markdown() -> None:
    app = Host()
    text = f"# Title\n\nSome **bold** text.\n\n- one\n- two\n\n```python\n{CODE}```\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd."
    async with app.run_test(size=(80, 30)) as pilot:
        await fill(pilot, app, Restored("prompt", "p", "Q"), Restored("answer", "a", text, line="numbers"))
        row = next(y for y, line in enumerate(screen(app.transcript)) if "End." in line)
        assert await drag(pilot, (0, 0), (77, row)) == "Q\n\n" + text
        assert await drag(pilot, (0, 4), (11, row)) == text[text.index("Some") : -2]


async def test_a_double_click_selects_one_entry() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await fill(
            pilot, app, Restored("prompt", "p", "Question\x1b[2J"), Restored("answer", "a", "*Answer*\n\nof two")
        )
        await pilot.click(Transcript, offset=(12, 2), times=2)
        await pilot.pause()
        assert app.screen.get_selected_text() == "*Answer*\n\nof two"
        await pilot.click(Transcript, offset=(12, 0), times=2)
        await pilot.pause()
        assert app.screen.get_selected_text() == "Question␛[2J"


async def test_what_is_selected_is_marked_and_the_gutter_is_not() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await fill(pilot, app, Restored("answer", "a", "Some words.\n\nMore of them.", label="Ling"))
        plain = app.transcript.render_line(0)
        await drag(pilot, (0, 0), (13, 2))
        style = app.screen.get_component_rich_style("screen--selection").bgcolor
        marked = [
            "".join(part.text for part in app.transcript.render_line(y) if part.style and part.style.bgcolor == style)
            for y in range(3)
        ]
        assert marked == ["Some words.", "", "More"]
        app.screen.clear_selection()
        await pilot.pause()
        assert app.transcript.render_line(0) == plain


async def test_selecting_while_it_streams_keeps_the_selected_text() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await fill(pilot, app, Restored("answer", "a", "Chosen words.\n\nOther words.", label="Ling"))
        app.transcript.add_answer("b", "Ling")
        assert await drag(pilot, (10, 0), (16, 0)) == "Chosen "
        app.transcript.append("b", "New.\n\n" * 40)
        await settle(pilot)
        assert app.screen.get_selected_text() == "Chosen "
