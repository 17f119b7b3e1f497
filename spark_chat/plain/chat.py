"""The plain chat: lines in, answers out. It puts reader, session, engine and journal together."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from spark_chat.chat.choices import Choices
from spark_chat.chat.diary import diary
from spark_chat.chat.engine_room import EngineRoom
from spark_chat.chat.keeping import Keeping
from spark_chat.chat.session import Session
from spark_chat.driver.lingering import farewell
from spark_chat.driver.snapshot import Phase
from spark_chat.history.journal import Journal
from spark_chat.plain.deeds import Deeds
from spark_chat.plain.gathering import Gathering
from spark_chat.plain.output import WORDS, Output
from spark_chat.plain.reader import Reader, Refused
from spark_chat.plain.view import PlainView
from spark_chat.tui import commands
from spark_chat.tui.quitting import HINT, Quitting, Wish

if TYPE_CHECKING:
    from pathlib import Path

    from spark_chat.chat.engine_room import Driving
    from spark_chat.driver.snapshot import Update
    from spark_chat.settings.resolve import Resolved

FAILED, INTERRUPTED, READER_LEFT = 1, 130, 128 + signal.SIGPIPE
STUCK = (Phase.FAILED, Phase.STOPPED, Phase.ASKING)
"""What no prompt gets past where nobody is there to give a command."""


def _driver(listener: Callable[[Update], None]) -> Driving:
    from spark_chat.driver.driver import Driver

    return Driver(listener)


class PlainChat:
    """`interactive`: a person types, so that commands may still come; else the end of the input ends the chat.
    `engine`: makes the engine's driver for a listener. `history`: where conversations are kept, None for nowhere.
    Needs a running event loop."""

    def __init__(
        self,
        resolved: Resolved,
        *,
        interactive: bool,
        history: Path | None,
        output: Output,
        engine: Callable[[Callable[[Update], None]], Driving] = _driver,
    ) -> None:
        self.interactive, self.output = interactive, output
        self._moved = asyncio.Event()
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._quitting = Quitting()
        self._interrupted_at = -10.0
        self._starting: set[asyncio.Task[None]] = set()
        self.choices = Choices(resolved)
        self._gathering = Gathering()
        self._prompt_due = True
        self.view = PlainView(output, self._on_move, interactive)
        self.session = Session(self.view, resolved.settings)
        self.journal = Journal(history, output.say)
        self.session.keep(Keeping(self.journal, self.session.conversation))
        self.diary = diary("plain chat")
        self.room = EngineRoom(resolved, engine(self._update))
        self.deeds = Deeds(self)

    # ------------------------------------------------------------------ its life

    async def run(self, reader: Reader, whole: bool = False) -> int:
        """Until the input ends or somebody leaves. Returns the exit code: 0 fine, 1 a prompt got no answer."""
        self.start(self.room.start())
        self.session.attach(self.room.driver)
        talking = asyncio.create_task(self._talk(reader, whole))
        waited_for: list[asyncio.Future[Any]] = [talking, self._left]
        await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        talking.cancel()
        await asyncio.wait([talking])
        if not talking.cancelled():
            talking.result()
        code = FAILED if self._unanswered() else 0
        self.session.leave()
        await self.room.driver.close()
        if goodbye := farewell(self.room.driver.snapshot.left):
            self.output.say(goodbye)
        if self._starting:
            await asyncio.wait(self._starting)
        await asyncio.to_thread(self.journal.close)
        await asyncio.to_thread(self.diary.close)
        return self._left.result() if self._left.done() else code

    def _unanswered(self) -> bool:
        return not self.interactive and (self.view.failed or bool(self.session.conversation.waiting))

    def start(self, starting: Coroutine[Any, Any, None]) -> None:
        """Run a start of the engine."""
        task = asyncio.create_task(starting)
        self._starting.add(task)
        task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        self._on_move()

    def _update(self, update: Update) -> None:
        self.diary.update(update)
        self.session.update(update)

    def _on_move(self) -> None:
        self._moved.set()
        self._prompt()

    def leave(self, code: int) -> None:
        """End soon, with this exit code."""
        if not self._left.done():
            self._left.set_result(code)

    def output_failed(self, error: OSError) -> None:
        """Standard output takes no more."""
        if error.errno != errno.EPIPE:
            self.output.say(f"The answer could not be written: {error.strerror or error}. See that standard output "
                            "has room.")  # fmt: skip
        self.leave(READER_LEFT if error.errno == errno.EPIPE else FAILED)

    # ------------------------------------------------------------------ lines

    async def _talk(self, reader: Reader, whole: bool) -> None:
        gathering = self._gathering
        while (line := await reader.next()) is not None:
            self._quitting.disarm()
            if isinstance(line, Refused):
                self.output.say(line.sentence)
                self.view.failed = True
            else:
                text = line if whole else gathering.take(line)
                if text is None and self.deeds.asking and not gathering.open:
                    await self.deeds.fill("")
                if text is not None and text.strip() and not await self._take(text, command=not whole):
                    return
            self._prompt_due = True
            self._prompt()
        rest = gathering.rest()
        if rest is not None:
            await self._take(rest, command=True)
        if name := self.deeds.let_go():
            self.output.say(f"The input ended before all places of {name} were written: it was not sent.")
            self.view.failed = True
        await self._settled()

    def _prompt(self) -> None:
        """On a terminal, a sign that it is the person's turn."""
        quiet = self.session.snapshot.phase in (Phase.READY, *STUCK) and not self._starting
        if self.interactive and self._prompt_due and quiet and not self.session.answering and not self._left.done():
            self._prompt_due = False
            self.output.say("... " if self._gathering.open else "> ", end="")

    async def _take(self, text: str, command: bool) -> bool:
        """A prompt, or a command. False where no more of them is of any use."""
        meant = commands.parse(text) if command else None
        if isinstance(meant, commands.Unknown) and not self.deeds.asking:
            self.output.say(meant.sentence)
            self.view.failed = True
        elif isinstance(meant, commands.Given):
            if name := self.deeds.let_go():
                self.output.say(f"The saved prompt {name} was not sent.")
            await self.deeds.do(meant)
        elif self.deeds.asking:
            await self.deeds.fill(text)
        elif command:
            await self.send(text)
        else:
            self.session.send(text)
        return self.interactive or await self._settled()

    async def send(self, text: str) -> None:
        """A prompt, with the files that go along; in the place of the one that is edited, where one is."""
        sent = await self.deeds.with_files(text)
        if sent is None:
            return
        if self.session.overflow is not None:
            self.session.let_be()
        if not self.deeds.take(sent):
            self.session.send(sent)

    async def _settled(self) -> bool:
        """Wait until all that was asked is answered. False where nothing gets on."""
        while self.session.busy:
            if self.session.overflow is not None and not self.interactive:
                self.session.let_be()
                continue
            stuck = self.session.snapshot.phase in STUCK and not self._starting
            if stuck or self.session.overflow is not None:
                return False
            self._moved.clear()
            await self._moved.wait()
        return True

    # ------------------------------------------------------------------ signals

    def on_signals(self) -> None:
        """ctrl+c, and what ends a program."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self.interrupted)
        for ending in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(ending, self.leave, 128 + ending)

    def interrupted(self) -> None:
        """ctrl+c stops the answer; twice, when nothing runs, or within 2 s where nobody types, it leaves."""
        now = time.monotonic()
        if self.interactive and not self.session.busy and self._let_go():
            return
        wish = self._quitting.press("ctrl+c", answering=self.session.busy, empty=True, selected=False, now=now)
        again, self._interrupted_at = now - self._interrupted_at <= 2.0, now
        if not self.interactive and (again or wish is not Wish.STOP):
            self.leave(INTERRUPTED)
        elif wish is Wish.STOP:
            self.session.stop()
        elif wish is Wish.QUIT:
            self.leave(0)
        elif wish is Wish.WARN:
            self.output.say(HINT)
        self._prompt_due = True  # the sign that stood there has scrolled away
        self._prompt()

    def _let_go(self) -> bool:
        """Leave what is begun and not yet a prompt. False where there is no such thing."""
        begun = self._gathering.drop()
        begun = bool(self.deeds.let_go()) or self.deeds.editing is not None or begun
        if begun:
            self.deeds.leave()
            self.output.say("\nLeft; nothing was sent.")
            self._prompt_due = True
            self._prompt()
        return begun


async def _run(resolved: Resolved, whole: bool) -> int:
    from spark_chat.headless.prompt import LONGEST
    from spark_chat.locations import NoHome, history_file

    loop = asyncio.get_running_loop()
    chats: list[PlainChat] = []

    def trouble(error: OSError) -> None:
        loop.call_soon_threadsafe(lambda: chats[0].output_failed(error))

    output = Output(trouble)
    history = None
    if resolved.settings.ui.history:
        try:
            history = history_file()
        except NoHome as error:
            output.say(str(error))
    for problem in resolved.problems:
        output.say(str(problem))
    interactive = os.isatty(0) and not whole
    chat = PlainChat(resolved, interactive=interactive, history=history, output=output)
    chats.append(chat)
    chat.on_signals()
    code = await chat.run(Reader(0, LONGEST, whole), whole)
    output.close()
    return code


def run(resolved: Resolved, whole: bool = False) -> int:
    """The plain chat on standard input and output. `whole`: all of the input is one prompt. Returns the exit code."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= WORDS:  # a file opened later must not become what is closed now
        pass
    os.close(spare)
    return asyncio.run(_run(resolved, whole))
