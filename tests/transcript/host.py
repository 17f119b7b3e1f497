"""A small app around a transcript, and ways to look at it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from spark_chat.tui.transcript import Restored, Transcript


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)


def screen(transcript: Transcript) -> list[str]:
    """The lines that are on the screen."""
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


def shown(transcript: Transcript) -> str:
    return "\n".join(screen(transcript))


async def until(true: Callable[[], bool], transcript: Transcript, seconds: float = 20) -> None:
    end = monotonic() + seconds
    while not true():
        await asyncio.sleep(0)
        assert monotonic() < end, "not in time:\n" + shown(transcript)


async def settle(pilot: Pilot[None]) -> None:
    """Until all that was asked for is laid out."""
    transcript = pilot.app.query_one(Transcript)
    await asyncio.sleep(0)
    await until(lambda: transcript.settled, transcript)


def conversation(turns: int, words: int = 60) -> list[Restored]:
    """Turns of different lengths; each line of theirs says where it belongs."""
    found = []
    for turn in range(turns):
        found.append(Restored("prompt", f"p{turn}", f"Question {turn}?"))
        text = " ".join(f"w{turn}.{word}" for word in range(words + turn * 37 % 200))
        text += f"\n\n- item {turn}.a\n- item {turn}.b\n\n```python\nx{turn} = 1\n```\n"
        text += f"\n| a{turn} | b |\n|---|---|\n| 1 | 2 |\n"
        found.append(Restored("answer", f"a{turn}", text, label="Ling", line=f"numbers of {turn}"))
    return found
