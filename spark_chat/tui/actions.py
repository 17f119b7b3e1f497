"""What the commands do. One method a row of the table of commands, plus opening and leaving."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from spark_chat.tui import commands

if TYPE_CHECKING:
    from spark_chat.history.message import Offer
    from spark_chat.tui.app import SparkApp


class Actions:
    """The app's deeds."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._offer: Offer | None = None
        self._left = False

    def do(self, name: str, argument: str = "") -> None:
        """Do what the command `name` of the table says."""
        command = commands.find(name)
        if command is None:
            return
        deed = getattr(self, f"{command.action}_")
        deed(argument) if command.argument else deed()

    # ------------------------------------------------------------------ opening and leaving

    async def open(self) -> None:
        """After the first refresh: the journal, what it offers, the engine."""
        app = self._app
        await self._open_journal()
        from spark_chat.chat.engine_room import EngineRoom

        room = app.room = EngineRoom(app.resolved, await asyncio.to_thread(self._import_driver))
        app.session.attach(room.driver)
        self._start(room.start())
        machine = await asyncio.to_thread(self._machine)
        app.chat.view.machine, app.chat.view.memory_all = machine
        app.chat.view.changed(app.session.snapshot)

    def _import_driver(self):  # type: ignore[no-untyped-def]
        return self._app.make_driver()

    @staticmethod
    def _machine() -> tuple[str, int]:
        from spark_chat.machine import machine

        found = machine()
        name = "GB10" if found.spark else found.gpu.name.removeprefix("NVIDIA ") if found.gpu else "CPU"
        return name, found.memory_bytes

    async def _open_journal(self) -> None:
        from spark_chat.chat.keeping import Keeping
        from spark_chat.history.journal import Journal
        from spark_chat.locations import NoHome, history_file

        app = self._app
        path = None
        if app.resolved.settings.ui.history:
            try:
                path = history_file()
            except NoHome as error:
                app.notify(str(error), severity="warning", markup=False)
        app.journal = Journal(path, self._report)
        app.session.keep(Keeping(app.journal, app.session.conversation))

    def _report(self, sentence: str) -> None:
        self._app.call_from_thread(self._app.notify, sentence, severity="warning", markup=False)

    def _start(self, starting) -> None:  # type: ignore[no-untyped-def]
        self._app.run_worker(starting, name="engine", group="engine", exclusive=True)

    async def leave(self) -> None:
        """Stop everything and go. What was typed and received is kept."""
        if self._left:
            return
        self._left = True
        app = self._app
        app.chat.composer.flush_draft()
        if app.room:
            await app.room.driver.close()
        if app.journal:
            await asyncio.to_thread(app.journal.close)
        app.exit(0)

    def keep_draft(self, text: str) -> None:
        """What stands in the composer, kept for the next start."""
        if self._app.session.keeper:
            self._app.session.keeper.draft(text)

    def copy_text(self, text: str) -> None:
        self._app.copy_to_clipboard(text)

    # ------------------------------------------------------------------ commands

    def new_(self) -> None:
        self._app.session.begin()
        self._app.chat.view.restored(self._app.session.conversation)

    def stop_(self) -> None:
        self._app.session.stop()

    def clear_queue_(self) -> None:
        self._app.session.clear_queue()

    def restart_(self) -> None:
        if self._app.room:
            self._start(self._app.room.restart())

    def quit_(self) -> None:
        self._app.run_worker(self.leave(), name="leave")

    def go_on_(self) -> None:
        """Do what the topmost notice offers."""
        wanted = self._app.chat.view.accept
        if wanted:
            getattr(self, f"_go_on_{wanted}")()

    def _go_on_confirm(self) -> None:
        if self._app.room:
            self._start(self._app.room.driver.confirm())

    def _go_on_last_ran(self) -> None:
        if self._app.room:
            self._start(self._app.room.go_back())

    def _go_on_drop(self) -> None:
        self._app.session.drop_oldest()
