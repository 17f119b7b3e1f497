"""The plain chat with a scripted engine: what it is given by pipe, and what it wrote."""

from __future__ import annotations

import asyncio
import os
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
    """`answers` and `words`: what was written to standard output and standard error by now."""

    chat: PlainChat
    engine: FakeEngine
    running: asyncio.Task[int]
    type_: int
    written: tuple[Written, Written]
    output: Output
    closed: bool = field(default=False)

    @property
    def answers(self) -> str:
        return self.written[0].text

    @property
    def words(self) -> str:
        return self.written[1].text

    def type(self, text: str) -> None:
        os.write(self.type_, text.encode())

    async def until(self, text: str, times: int = 1) -> None:
        """Wait until `text` was written `times` times."""
        more = asyncio.Event()
        for one in self.written:
            one.more = more
        try:
            async with asyncio.timeout(PATIENCE_S):
                while (self.answers + self.words).count(text) < times:
                    more.clear()
                    await more.wait()
        except TimeoutError:
            raise AssertionError(f"{text} did not come:\n{self.answers}\n---\n{self.words}") from None

    async def end(self) -> int:
        """The end of the input; the exit code."""
        if not self.closed:
            os.close(self.type_)
            self.closed = True
        code = await asyncio.wait_for(self.running, PATIENCE_S)
        assert await asyncio.to_thread(self.output.close, PATIENCE_S)
        for one in self.written:
            await one.end()
        return code


class Written:
    """What is written to `descriptor`, the writer's end of a pipe: read as it comes."""

    def __init__(self) -> None:
        self._reading, self.descriptor = os.pipe()
        os.set_blocking(self._reading, False)
        self._data = bytearray()
        self._ended = asyncio.Event()
        self.more = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._reading, self._read)

    @property
    def text(self) -> str:
        return self._data.decode(errors="ignore")  # a character may have come half

    def _read(self) -> None:
        data = os.read(self._reading, 1 << 20)
        self._data += data
        self.more.set()
        if not data:
            asyncio.get_running_loop().remove_reader(self._reading)
            os.close(self._reading)
            self._ended.set()

    async def end(self) -> None:
        """Nothing more is written: read what is left."""
        os.close(self.descriptor)
        await asyncio.wait_for(self._ended.wait(), PATIENCE_S)


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
    written = Written(), Written()
    reading, writing = os.pipe()
    output = Output(lambda error: None, *(one.descriptor for one in written))
    chat = PlainChat(
        resolve(sets, environ={}, path=folder / "settings.toml"), interactive=interactive, history=history,
        output=output,
        engine=lambda listener: Driver(listener, MACHINE, engine.client, models or FakeModels(), FakeLastRun()),
    )  # fmt: skip
    running = asyncio.create_task(chat.run(Reader(reading, 100_000, whole), whole))
    return Sitting(chat, engine, running, writing, written, output)
