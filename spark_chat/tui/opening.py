"""From the first drawn screen to a running engine, and back: opening, going on with a cut-off conversation, leaving.

Nothing here runs before the screen was drawn once, and what is slow runs in a thread: typing works from the start.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from spark_chat.tui import notices
from spark_chat.tui.messages import SettingChanged
from spark_chat.tui.talks.desk import written
from spark_chat.tui.theme_files import ThemeFiles
from spark_chat.tui.themes import load as load_themes
from spark_chat.tui.themes import meant
from spark_chat.tui.tidying import Tidying
from spark_chat.tui.widgets.header import Header

if TYPE_CHECKING:
    from textual.theme import Theme

    from spark_chat.chat.engine_room import EngineRoom
    from spark_chat.history.message import Offer
    from spark_chat.tui.app import SparkApp

LOOK_EVERY_S = 1.0
"""Between two looks at whether the settings file was changed by another program."""


class Opening:
    """Opens what the app needs, in the order a person notices it, and closes it."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._offer: Offer | None = None
        self._themes_read = False
        self.opened = False
        """Whether all that a start does by itself was done, but for the engine's coming up."""
        self.theme_files = ThemeFiles()
        self._toured = 0
        self.tidying = Tidying(app)
        self._leaving: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """What was typed and cut off comes first, then the engine."""
        app = self._app
        self.tell_problems()
        await self._open_journal()
        room = await asyncio.to_thread(self._engine_room)
        app.room = room
        app.session.attach(room.driver)
        app.start(room.start())
        view = app.chat.view
        view.machine, view.memory_all = await asyncio.to_thread(_machine)
        view.changed(app.session.snapshot)
        await app.writing.restore()
        await self.read_themes()
        if not await app.setting_up.at_start():
            await self.show_tour()
        await self.tidying.at_start()
        app.set_interval(LOOK_EVERY_S, app.look_at_settings)
        self.opened = True

    async def show_tour(self) -> None:
        """At the first start on this machine."""
        from spark_chat.settings import toured

        if self._app.resolved.settings.ui.tour and not await asyncio.to_thread(toured.shown):
            self.tour(1)
            await asyncio.to_thread(toured.note)

    def tour(self, number: int) -> None:
        """Put up the step of that number."""
        from spark_chat.tui import tour

        self._toured = number
        self._app.chat.view.put(tour.step(number))

    def tour_on(self) -> None:
        """To the next step, or to the tour's end."""
        from spark_chat.tui import tour

        if self._toured < tour.STEPS:
            self.tour(self._toured + 1)
        else:
            self._app.chat.view.take_down("tour")

    @property
    def unkept(self) -> bool:
        """Whether nothing that is said here is kept, though the settings want it kept."""
        journal = self._app.journal
        return self._app.resolved.settings.ui.history and journal is not None and journal.troubled

    async def read_themes(self) -> None:
        """All themes, as their files are now, and what is wrong with them."""
        self._app.add_themes(await asyncio.to_thread(load_themes))
        self._themes_read = True
        self.tell_problems()

    def _engine_room(self) -> EngineRoom:
        from spark_chat.chat.engine_room import EngineRoom
        from spark_chat.locations import NoHome, state_file

        app = self._app
        try:
            app.started_before = state_file().exists()
        except (NoHome, OSError):
            app.started_before = False
        return EngineRoom(app.choices.resolved, app.make_driver())

    def tell_problems(self) -> None:
        """Put up what is wrong with the settings, or take it down."""
        choices, view = self._app.choices, self._app.chat.view
        problems = (*choices.problems, *choices.theme_problems, *self._missing_theme())
        self._app.diary.problems(problems)
        if problems:
            view.put(notices.problems_notice(problems))
        else:
            view.take_down("problems")

    def _missing_theme(self) -> tuple[str, ...]:
        """A sentence where the settings name a theme that is nowhere."""
        app = self._app
        name, known = app.choices.resolved.settings.ui.theme, app.available_themes
        if not self._themes_read or name in known:
            return ()
        near = meant(name, known)
        return (f"ui.theme is {name}, and there is no such theme." + (f" Did you mean {near}?" if near else ""),)

    def keep_theme(self, theme: Theme) -> None:
        """A theme that was picked is saved, as any other setting."""
        app = self._app
        if theme.name != app.choices.resolved.settings.ui.theme:
            app.post_message(SettingChanged("ui.theme", theme.name))

    # ------------------------------------------------------------------ what was typed and received

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
                app.say(str(error))
        journal = app.journal = Journal(path, self._report)
        app.session.keep(Keeping(journal, app.session.conversation))
        self._offer = await journal.committed(journal.latest())
        earlier = await journal.committed(journal.prompts())
        composer, offer = app.chat.composer, self._offer
        draft = written(offer.draft) if offer is not None else ""
        typed_meanwhile = not composer.is_empty
        if draft and typed_meanwhile:
            earlier = [*(earlier or ()), draft]
        if earlier:
            composer.recall(earlier)
        if typed_meanwhile:
            journal.draft(app.session.conversation.id, composer.draft)
        elif draft:
            composer.set_text(draft)
        if offer is None:
            return
        if typed_meanwhile:  # the draft is one up, and stays where it was kept
            self._offer = replace(offer, draft="")
        if offer.messages and not app.session.conversation.exchanges:
            app.chat.view.put(notices.resume_notice(offer))

    def _report(self, sentence: str) -> None:
        """Called on the journal's thread."""
        self._app.diary.note(f"history: {sentence}")
        if self._app.is_running:
            self._app.call_later(self._app.say, sentence)
            self._app.call_later(self._mark_unkept)

    def _mark_unkept(self) -> None:
        header = self._app.chat.query_one(Header)
        header.show(replace(header.title_shown, unkept=self.unkept), header.badges)

    def keep_draft(self, text: str) -> None:
        """What stands in the composer. One that was found stays where it was kept until it is written on: a
        conversation that is only offered is in nobody's use."""
        app, offer = self._app, self._offer
        if app.session.keeper is None:
            return
        if offer is None or not offer.draft:
            app.session.keeper.draft(text)
        elif text != offer.draft:
            self._take_draft(offer, text)

    def _take_draft(self, offer: Offer, text: str) -> None:
        """The draft that was found is this conversation's now, as it is by now."""
        if self._app.journal is not None:
            self._app.journal.draft(self._app.session.conversation.id, text, moved_from=offer.draft_in)
        self._offer = replace(offer, draft="")

    def begun(self) -> None:
        """A prompt was sent: the draft that was found is spent, and the offer is no longer pressed on anyone."""
        self._app.chat.view.take_down("resume")
        self._app.setting_up.begun()
        if self._offer is not None and self._offer.draft:
            self._take_draft(self._offer, "")

    async def go_on(self) -> None:
        """Go on with the conversation that was offered."""
        if self._offer is not None:
            await self._app.desk.resume(self._offer.conversation)

    def forget_offer(self) -> None:
        """Another conversation is begun, or gone on with."""
        self._offer = None
        self._app.chat.view.take_down("resume")

    # ------------------------------------------------------------------ leaving

    @property
    def leaving(self) -> bool:
        """Whether the app is on its way out: no engine is started any more."""
        return self._leaving is not None

    async def leave(self) -> None:
        """Stop everything and go."""
        await self.close()
        self._app.exit(0)

    async def close(self) -> None:
        """Stop everything. What was typed and received is kept; called twice, it is done once."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._close())
        await asyncio.shield(self._leaving)

    async def _close(self) -> None:
        app = self._app
        app.session.leave()
        self.keep_draft(app.chat.composer.draft)
        app.desk.keep_place()
        if app.desk.shelf is not None:
            app.desk.shelf.purge()
        await app.setting_up.close()
        if app.room is not None:
            await app.room.driver.close()
        if app.journal is not None:
            await asyncio.to_thread(app.journal.close)
        await asyncio.to_thread(app.diary.close)


def _machine() -> tuple[str, int]:
    """The machine's name in the header, and its memory in bytes."""
    from spark_chat.machine import machine

    found = machine()
    name = "GB10" if found.spark else found.gpu.name.removeprefix("NVIDIA ") if found.gpu else "CPU"
    return name, found.memory_bytes
