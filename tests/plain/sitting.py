"""The plain chat with a scripted engine: what it is given by pipe, and what it wrote."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from spark_chat.driver.driver import Driver
from spark_chat.plain.chat import PlainChat
from spark_chat.plain.output import Output
from spark_chat.plain.reader import Reader
from spark_chat.settings.resolve import resolve
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script

PATIENCE_S = 15


@dataclass
class Sitting:
    """`answers` and `words`: what stands on standard output and standard error now."""

    chat: PlainChat
    engine: FakeEngine
    running: asyncio.Task[int]
    type_: int
    files: tuple[Path, Path]
    output: Output
    closed: bool = field(default=False)

    @property
    def answers(self) -> str:
        return self.files[0].read_bytes().decode()

    @property
    def words(self) -> str:
        return self.files[1].read_bytes().decode()

    def type(self, text: str) -> None:
        os.write(self.type_, text.encode())

    async def until(self, text: str, times: int = 1) -> None:
        """Wait until `text` was written `times` times."""
        ends = time.monotonic() + PATIENCE_S
        while (self.answers + self.words).count(text) < times:
            assert time.monotonic() < ends, f"{text} did not come:\n{self.answers}\n---\n{self.words}"
            await asyncio.sleep(0.005)

    async def end(self) -> int:
        """The end of the input; the exit code."""
        if not self.closed:
            os.close(self.type_)
            self.closed = True
        code = await asyncio.wait_for(self.running, PATIENCE_S)
        assert self.output.close(PATIENCE_S)
        return code


def sit(
    folder: Path,
    *sets: str,
    script: Script | None = None,
    interactive: bool = True,
    whole: bool = False,
    history: Path | None = None,
    models: FakeModels | None = None,
) -> Sitting:
    """Start one. Needs a running event loop."""
    engine = FakeEngine(script)
    files = (folder / "answers", folder / "words")
    out, err = (os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for file in files)
    reading, writing = os.pipe()
    output = Output(lambda error: None, out, err)
    chat = PlainChat(
        resolve(sets, environ={}, path=folder / "settings.toml"), interactive=interactive, history=history,
        output=output,
        engine=lambda listener: Driver(listener, MACHINE, engine.client, models or FakeModels(), FakeLastRun()),
    )  # fmt: skip
    running = asyncio.create_task(chat.run(Reader(reading, 100_000, whole), whole))
    return Sitting(chat, engine, running, writing, files, output)
