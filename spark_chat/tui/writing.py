"""What helps with writing a prompt: the saved ones, files, and what they are completed from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spark_chat.chat.system import WORDS, choose, state
from spark_chat.tui import notices
from spark_chat.tui.themes import IN_USE, ordered

if TYPE_CHECKING:
    from spark_chat.prompts.library import Library
    from spark_chat.tui.app import SparkApp
    from spark_chat.tui.composer.attaching import PathsDropped


class Writing:
    """Of one app. The library is read in a thread, whenever somebody turns to it."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._library: Library | None = None
        self._dropped: PathsDropped | None = None

    # ------------------------------------------------------------------ the library

    async def library(self) -> Library:
        """All saved prompts, as the files are now."""
        from spark_chat.prompts.library import load

        self._library = await asyncio.to_thread(load)
        return self._library

    def _begin(self, name: str, work: object) -> None:
        self._app.run_worker(work, name=name, group="writing", exclusive=True)  # type: ignore[arg-type]

    def arguments(self, command: str) -> Sequence[tuple[str, str]]:
        """What a command may be given, from what was read last; it is read again for the next key."""
        if command == "theme":
            return [(name, IN_USE * (name == self._app.theme)) for name in ordered(self._app.available_themes)]
        if command not in ("prompt", "system"):
            return ()
        if self._library is None:
            self._begin("prompts", self._follow())
            return ()
        found = self._library.of("prompt" if command == "prompt" else "system").values()
        return [*((item.name, item.about) for item in found), *(WORDS if command == "system" else ())]

    async def _follow(self) -> None:
        await self.library()
        composer = self._app.chat.composer
        composer.completing.follow(composer.prompt.text)

    def insert(self, name: str) -> None:
        """Put the saved prompt `name` where the cursor is; without a name, list them in the completion."""
        self._library = None
        if name:
            self._begin("prompt", self._insert(name))
        else:
            self._ask_for("prompt")

    def _ask_for(self, command: str) -> None:
        """A command that wants a name: begun in the composer, where its names are listed."""
        composer = self._app.chat.composer
        if composer.is_empty:
            composer.set_text(f"/{command} ")
        else:
            self._app.say(f"Write /{command} and a name in an empty prompt, or pick one with all commands.")
        composer.focus()

    async def _insert(self, name: str) -> None:
        library = await self.library()
        saved = library.prompts.get(name)
        if saved is None:
            self._app.say(library.missing("prompt", name))
            return
        composer = self._app.chat.composer
        composer.filling.insert(saved)
        composer.focus()

    def say_first(self, name: str) -> None:
        """Have the system prompt `name` said before this conversation; without a name, list them."""
        self._library = None
        if name:
            self._begin("system", self._say_first(name))
        else:
            self._ask_for("system")
            self._app.say(state(self._app.session))

    async def _say_first(self, name: str) -> None:
        self._app.say(choose(self._app.session, name, await self.library()))
        self._app.weighing.changed()

    def save(self, argument: str) -> None:
        """Save a prompt: the name, and below it the text; without text, the last prompt that was sent."""
        from spark_chat.prompts.library import to_save

        if not argument.strip():
            self._name_it()
            return
        exchanges = self._app.session.conversation.exchanges
        name, text = to_save(argument, exchanges[-1].prompt if exchanges else "")
        self._begin("save", self._save(name, text, argument))

    def _name_it(self) -> None:
        """From the palette or a key: the command above what is written, the cursor where its name goes."""
        composer = self._app.chat.composer
        written = composer.prompt.text
        composer.prompt.put_in(f"/save-prompt \n{written}" if written else "/save-prompt ", (0, 0), composer.prompt.end)
        composer.prompt.move_cursor((0, len("/save-prompt ")))
        composer.focus()

    async def _save(self, name: str, text: str, argument: str) -> None:
        from spark_chat.prompts.library import NotSaved, save

        try:
            path = await asyncio.to_thread(save, name, text)
        except NotSaved as refused:
            self._app.say(str(refused))
            if "\n" in argument and self._app.chat.composer.is_empty:
                self._app.chat.composer.set_text(f"/save-prompt {argument}")
        else:
            self._library = None
            self._app.say(f"Saved as {path}; /prompt {name} brings it back.")

    # ------------------------------------------------------------------ the person's editor

    def edit(self) -> None:
        """Hand what is written to the person's editor."""
        self._app.run_worker(self._edit(), name="editor", group="editor", exclusive=True)

    async def _edit(self) -> None:
        from textual.app import SuspendNotSupported

        from spark_chat.tui.editing import edit

        app = self._app
        composer = app.chat.composer
        before = composer.text
        app.opening.keep_draft(before)
        try:
            edited = await edit(app.suspend, before)
        except SuspendNotSupported:
            app.say("This terminal cannot be handed to an editor.")
            return
        if edited.text is not None and edited.text != before:
            composer.set_text(edited.text)
        composer.focus()
        if edited.trouble:
            app.say(edited.trouble)

    async def restore(self) -> None:
        """What was in an editor when the app was ended under it."""
        from spark_chat.tui.editing import left_behind

        texts = await asyncio.to_thread(left_behind)
        composer = self._app.chat.composer
        if texts and composer.is_empty:
            composer.set_text(texts.pop())
            self._app.say("What you were writing in the editor is back.")
        if texts:
            composer.recall(texts, newest=True)
            self._app.say("What you were writing in the editor is one up (the up key).")

    # ------------------------------------------------------------------ files

    def attach(self, path: str) -> None:
        """Attach the file that is named; without a name, complete one."""
        composer = self._app.chat.composer
        if path:
            composer.attaching.attach(path)
        else:
            composer.insert("@" if composer.is_empty else " @")
        composer.focus()

    def offer(self, dropped: PathsDropped) -> None:
        """A pasted path can be attached in its place."""
        from spark_chat.files.attachment import short

        self._dropped = dropped
        working = self._app.chat.composer.attaching.working
        names = [short(path, working) for path in dropped.paths]
        self._app.chat.view.put(notices.attach_notice(names))

    def accept(self) -> None:
        """Attach what was offered."""
        self._app.chat.view.take_down("attach")
        if self._dropped is not None:
            self._app.chat.composer.attaching.take_dropped(self._dropped)
            self._dropped = None

    def changed(self) -> None:
        """What is written changed: an offer for a path that is no longer there is over."""
        if self._dropped is not None and self._dropped.pasted not in self._app.chat.composer.prompt.text:
            self._dropped = None
            self._app.chat.view.take_down("attach")
