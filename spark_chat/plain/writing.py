"""What helps with writing a prompt in the plain chat: saved prompts, files, the person's own editor."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spark_chat.plain.deed import Deed

if TYPE_CHECKING:
    from spark_chat.files.attachment import Attachment
    from spark_chat.plain.chat import PlainChat
    from spark_chat.prompts.asking import Asking

NO_FILES = "none"
"""What /attach takes for: none of those that were attached."""


class Writing(Deed):
    """Of one plain chat."""

    def __init__(self, chat: PlainChat) -> None:
        super().__init__(chat)
        self._files: list[Attachment] = []
        self._asking: Asking | None = None

    # ------------------------------------------------------------------ saved prompts

    @property
    def asking(self) -> bool:
        """Whether the next lines go into the places of a saved prompt."""
        return self._asking is not None

    async def action_prompt(self, argument: str) -> None:
        """Without an argument: what there is. With a name: its places are asked for, then it is sent."""
        from spark_chat.prompts.asking import Asking
        from spark_chat.prompts.library import load

        library = await asyncio.to_thread(load)
        if not argument:
            for name, saved in library.prompts.items():
                self._say(f"/prompt {name}: {saved.about}")
            return
        saved_one = library.prompts.get(argument)
        if saved_one is None:
            self._fail(library.missing("prompt", argument))
            return
        self._say(saved_one.text)
        self._asking = Asking(saved_one)
        await self._ask()

    async def fill(self, text: str) -> None:
        """What a person gave for the place that was asked for."""
        if self._asking is not None and not self._asking.answer(text):
            self._say("Nothing stands in for it: it has to be written. ctrl+c leaves the saved prompt.")
        await self._ask()

    async def _ask(self) -> None:
        asking = self._asking
        if asking is None:
            return
        if asking.open:
            self._say(asking.question)
        else:
            self._asking = None
            await self._chat.send(asking.text)

    def let_go(self) -> str:
        """Leave the saved prompt that is being filled in. Its name; "" where there was none."""
        asking, self._asking = self._asking, None
        return asking.prompt.name if asking is not None else ""

    async def action_save_prompt(self, argument: str) -> None:
        from spark_chat.prompts.library import NotSaved, save, to_save

        exchanges = self._chat.session.conversation.exchanges
        name, text = to_save(argument, exchanges[-1].prompt if exchanges else "")
        try:
            path = await asyncio.to_thread(save, name, text)
        except NotSaved as refused:
            self._fail(str(refused))
        else:
            self._say(f"Saved as {path}; /prompt {name} brings it back.")

    # ------------------------------------------------------------------ files

    async def action_attach(self, argument: str) -> None:
        """A file that goes along with the next prompt."""
        from spark_chat.files.attachment import Refused, attach, full

        name = argument.strip().strip("'\"")
        if name == NO_FILES:
            count = len(self._files)
            self._files.clear()
            self._say(f"{count} left out." if count else "No file is attached.")
        elif not name:
            for file in self._files:
                self._say(_about(file))
            self._say("/attach PATH, or @ and a path in a prompt, attaches a text file; /attach none leaves all out.")
        else:
            try:
                file = await asyncio.to_thread(lambda: attach(full(name, _working()), _working()))
            except Refused as refused:
                self._fail(str(refused))
                return
            self._files = [item for item in self._files if item.path != file.path] + [file]
            self._say(f"{_about(file)} It goes along with the next prompt.")

    async def with_files(self, text: str) -> str | None:
        """`text` and, before it, the files that go along: those attached, as they are now, and those that it names with
        an @. None where one of these can't: it was said, and nothing is to be sent."""
        from spark_chat.files.mention import named

        if not self._files and "@" not in text:
            return text
        from spark_chat.files.attachment import Refused

        try:
            found = await asyncio.to_thread(named, text, _working())
        except Refused as refused:
            self._fail(f"{refused} The prompt was not sent.")
            return None
        for file in found.files:
            self._say(_about(file))
        attached = [await asyncio.to_thread(self._as_it_is, file) for file in self._files]
        self._files.clear()
        files = {file.path: file for file in (*attached, *found.files)}
        return "".join(f"{file.inlined}\n" for file in files.values()) + found.text

    def _as_it_is(self, file: Attachment) -> Attachment:
        from spark_chat.files.attachment import Refused, attach

        if not file.moved:
            return file
        try:
            fresh = attach(file.path, _working())
        except Refused as refused:
            self._say(f"{refused} It goes as it was when it was attached.")
            return file
        self._say(f"{file.name} has changed since it was attached. It goes as it is now.")
        return fresh

    # ------------------------------------------------------------------ the person's editor

    async def action_editor(self, argument: str) -> None:
        """A prompt is written in the person's own editor, and sent; after /edit, the prompt that is edited."""
        from spark_chat.tui.editing import edit

        chat = self._chat
        if not chat.interactive:
            self._fail("An editor needs a terminal.")
            return
        if chat.session.busy:
            self._say("The terminal is needed for the answer. /editor opens once it is there.")
            return
        edited = chat.deeds.editing
        text = edited.prompt if edited is not None else ""
        done = await edit(self._aside, text)
        if done.trouble:
            self._say(done.trouble)
        if not (done.text or "").strip() or (text and done.text == text):
            self._say("Nothing was written: nothing is sent.")
        elif done.text is not None:
            self._say(done.text)
            await chat.send(done.text)

    @contextlib.contextmanager
    def _aside(self) -> Iterator[None]:
        """Nothing is written while an editor has the terminal; ctrl+c is ours again behind it."""
        try:
            with self._chat.output.held():
                yield
        finally:
            with contextlib.suppress(ValueError, RuntimeError):  # no main thread: then it was not ours before
                asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._chat.interrupted)


def _working() -> Path:
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def _about(file: Attachment) -> str:
    from spark_chat.meters import units

    lines = file.text.count("\n") + (not file.text.endswith("\n"))
    return f"{file.name}: {units.text_size(file.bytes)}, {lines:,} line{'' if lines == 1 else 's'}."
