"""The conversation on the screen, through a small app."""

from __future__ import annotations

import pytest
from textual.events import AppBlur, AppFocus

from spark_chat.tui.transcript import Restored, Transcript, view
from spark_chat.tui.transcript.answer import Answer
from spark_chat.tui.transcript.slot import Slot
from tests.transcript.host import Host, conversation, screen, settle, shown


async def test_a_turn_shows_as_markdown_with_its_numbers() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.add_prompt("p", "Show *me*")
        app.transcript.add_answer("a", "Ling")
        for piece in ("# Ti", "tle\n\n- on", "e\n- **tw", "o**\n"):
            app.transcript.append("a", piece)
        app.transcript.finish("a", "9 tok · 3 tok/s")
        await settle(pilot)
        assert screen(app.transcript)[:8] == [
            "  you     Show *me*", "", "  Ling    Title", "", "           • one", "           • two",
            "          9 tok · 3 tok/s", "",
        ]  # fmt: skip


async def test_labels_stand_on_their_own_lines_where_it_is_narrow() -> None:
    app = Host()
    async with app.run_test(size=(40, 20)) as pilot:
        app.transcript.add_prompt("p", "Hi")
        app.transcript.add_answer("a", "Ling")
        app.transcript.append("a", "Hello.")
        await settle(pilot)
        assert screen(app.transcript)[:5] == ["  you", "  Hi", "", "  Ling", "  Hello."]


@pytest.mark.parametrize("hostile", ["[/", "[/INST] [link=x]", "[b", "[@click=app.quit]x[/]", "\\[", "[red]x"])
async def test_foreign_text_is_never_markup(hostile: str) -> None:
    app = Host()
    async with app.run_test(size=(80, 30)) as pilot:
        app.transcript.add_prompt("p", hostile)
        app.transcript.add_answer("a", hostile)
        app.transcript.append("a", f"`{hostile}`\n\n```{hostile}\n{hostile}\n```\n", f"thought {hostile}", hostile)
        app.transcript.finish("a", hostile, "failed")
        app.transcript.add_notice("warning", hostile)
        app.transcript.toggle_reasoning("a")
        await settle(pilot)
        assert shown(app.transcript).count(hostile) >= 6


async def test_no_control_sequence_reaches_the_screen() -> None:
    app = Host()
    hostile = "\x1b]52;c;QUJD\x07 \x1b[2J \x9b31m \x9d0;t\x9c \u202e abc \x1b"
    async with app.run_test(size=(100, 40)) as pilot:
        app.transcript.add_prompt("p", hostile)
        app.transcript.add_answer("a", hostile)
        for char in hostile + "\n\n```\x1b[31m\n" + hostile + "\n```\n| " + hostile + " |\n|---|\n":
            app.transcript.append("a", char, char)
        app.transcript.finish("a", hostile)
        app.transcript.add_notice("error", hostile)
        app.transcript.toggle_reasoning()
        await settle(pilot)
        text = shown(app.transcript)
        assert not set(text) & set("\x1b\x07\x9b\x9c\x9d\u202e") and "␛]52;c;QUJD␇" in text
        assert app.transcript.plain_text("p") == hostile
        assert app.transcript.plain_text("a").startswith(hostile)


async def test_marks_of_a_prompt_and_an_answer() -> None:
    app = Host()
    async with app.run_test(size=(80, 30)) as pilot:
        transcript = app.transcript
        transcript.add_prompt("one", "first", queued=True)
        await settle(pilot)
        assert "queued" in shown(transcript)
        transcript.set_mark("one", "")
        transcript.add_answer("one", "Ling")
        await settle(pilot)
        assert "queued" not in shown(transcript) and "…" in shown(transcript)
        transcript.append("one", "partial")
        transcript.finish("one", "12 tok", "stopped")
        await settle(pilot)
        assert "■ stopped · 12 tok" in shown(transcript) and "…" not in shown(transcript)
        assert transcript.plain_text("one") == "partial"
        transcript.clear()
        await settle(pilot)
        assert shown(transcript).strip() == ""


async def test_reasoning_folds_and_opens_by_key_and_by_click() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.transcript
        transcript.add_answer("a", "Ling")
        transcript.append("a", "", "I weigh the words", "0.4 s")
        await settle(pilot)
        assert "▸ thinking 0.4 s  …I weigh the words" in shown(transcript)
        transcript.append("a", "Answer.", "", "2.1 s · 143 tok")
        await settle(pilot)
        assert "▸ thought 2.1 s · 143 tok" in shown(transcript) and "weigh" not in shown(transcript)
        transcript.toggle_reasoning()
        await settle(pilot)
        assert "▾ thought" in shown(transcript) and "I weigh the words" in shown(transcript)
        transcript.append("a", "", " and more")
        await settle(pilot)
        assert "I weigh the words and more" in shown(transcript)
        await pilot.click(Transcript, offset=(14, 0))
        await settle(pilot)
        assert "▸ thought" in shown(transcript) and "weigh" not in shown(transcript)
        assert "Answer." in shown(transcript)


async def test_a_long_prompt_is_folded_and_opens() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.add_prompt("p", "\n".join(f"line {n}" for n in range(5000)))
        await settle(pilot)
        assert "▸ 5,000 lines · 48.9 kB" in shown(app.transcript) and "line 40" not in shown(app.transcript)
        row = next(y for y, line in enumerate(screen(app.transcript)) if "▸" in line)
        await pilot.click(Transcript, offset=(14, row))
        await settle(pilot)
        app.transcript.action_scroll_end()
        await settle(pilot)
        assert "line 4999" in shown(app.transcript)


async def test_a_streamed_fence_keeps_its_text_through_a_theme_change_and_a_click() -> None:
    app = Host()
    text = "```python\ndef f(x):\n    return x + 1\n```\n"
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.add_answer("a", "Ling")
        for at in range(0, len(text), 5):
            app.transcript.append("a", text[at : at + 5])
            await pilot.pause()
        app.transcript.finish("a", "")
        await settle(pilot)
        before = screen(app.transcript)
        assert "            def f(x):" in before
        app.theme = "textual-light"
        await pilot.pause()
        await pilot.click(Transcript, offset=(14, 2))
        await settle(pilot)
        assert screen(app.transcript) == before


async def test_code_is_coloured_and_themes_change_the_colours() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.restore([Restored("answer", "a", "```python\nreturn 1  # why\n```\n")])
        await settle(pilot)

        def colours() -> list[object]:
            strip = app.transcript.render_line(1)
            return [segment.style.color for segment in strip if segment.style and segment.text.strip()]

        dark = colours()
        assert len(set(dark)) >= 2
        for theme in ("textual-light", "ansi-dark", "ansi-light", "nord"):
            app.theme = theme
            await settle(pilot)
            await pilot.pause()
            assert len(set(colours())) >= 2 and colours() != dark


async def test_resizing_while_it_streams_ends_like_a_fresh_view() -> None:
    app, fresh = Host(), Host()
    text = conversation(1)[1].text
    async with app.run_test(size=(120, 60)) as pilot:
        app.transcript.add_answer("a", "Ling")
        for at in range(0, len(text), 40):
            app.transcript.append("a", text[at : at + 40])
            if at % 200 == 0:
                await pilot.resize_terminal((200, 40, 120)[at // 200 % 3], 60)
            await pilot.pause()
        app.transcript.finish("a", "the end")
        await pilot.resize_terminal(120, 60)
        await settle(pilot)
        async with fresh.run_test(size=(120, 60)) as other:
            fresh.transcript.restore([Restored("answer", "a", text, label="Ling", line="the end")])
            await settle(other)
            assert screen(app.transcript) == screen(fresh.transcript)


async def test_what_is_far_away_is_never_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Focus, theme and width cost what is on the screen, whatever the conversation's length."""
    app = Host()
    laid: list[Slot] = []
    rows = Slot.rows

    def counted(slot: Slot, width: int, palette: object) -> object:
        if slot._rows is None:
            laid.append(slot)
        return rows(slot, width, palette)  # type: ignore[arg-type]

    monkeypatch.setattr(Slot, "rows", counted)
    async with app.run_test(size=(100, 40)) as pilot:
        app.transcript.restore(conversation(500))
        await settle(pilot)
        assert 10 < len(laid) < 120
        for change in ("focus", "theme", "size"):
            laid.clear()
            if change == "focus":
                app.post_message(AppBlur())
                app.post_message(AppFocus())
            elif change == "theme":
                app.theme = "textual-light"
            else:
                await pilot.resize_terminal(70, 40)
            await settle(pilot)
            assert len(laid) < 120, change


async def test_a_large_answer_is_taken_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "BUDGET", 0.0)
    digest, slices = Answer.digest, 0

    def counted(answer: Answer, deadline: float) -> bool:
        nonlocal slices
        slices += answer.waits
        return digest(answer, deadline)

    monkeypatch.setattr(Answer, "digest", counted)
    app = Host()
    turn = conversation(1)[1].text
    async with app.run_test(size=(100, 40)) as pilot:
        app.transcript.restore([Restored("answer", "a", turn * 300 + "The very end.", line="numbers")])
        await settle(pilot)
        assert slices > 20
        assert "The very end." in shown(app.transcript) and "numbers" in shown(app.transcript)
