"""The conversation on the screen, through a small app."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from spark_chat.tui.transcript import Transcript


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)


def screen(transcript: Transcript) -> list[str]:
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    for _ in range(500):
        if true():
            return
        await pilot.pause(0.01)
    raise AssertionError("it did not come true in 5 s: " + "\n".join(screen(pilot.app.query_one(Transcript))))


async def test_a_turn_shows_as_markdown_with_its_numbers() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.add_prompt("p", "Show *me*")
        app.transcript.add_answer("a", "Ling")
        for piece in ("# Ti", "tle\n\n- on", "e\n- **tw", "o**\n"):
            app.transcript.append("a", piece)
        app.transcript.finish("a", "9 tok · 3 tok/s")
        await until(pilot, lambda: "9 tok" in "\n".join(screen(app.transcript)))
        assert screen(app.transcript)[:8] == [
            "  you     Show *me*", "", "  Ling    Title", "", "           • one", "           • two",
            "          9 tok · 3 tok/s", "",
        ]  # fmt: skip
