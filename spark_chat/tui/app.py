"""The app: puts the screens, the sitting, the engine and the journal together. It decides nothing itself."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.events import Event, Key, Paste
from textual.screen import Screen

from spark_chat.chat.choices import Choices
from spark_chat.chat.diary import diary
from spark_chat.chat.session import Session
from spark_chat.driver.snapshot import Piece
from spark_chat.tui import keymap
from spark_chat.tui.actions import Actions
from spark_chat.tui.copying import CopyingApp
from spark_chat.tui.messages import RestartWanted, SettingChanged
from spark_chat.tui.opening import Opening
from spark_chat.tui.screens.chat import ChatScreen
from spark_chat.tui.setting_up import SettingUp
from spark_chat.tui.side import Side
from spark_chat.tui.talks.desk import Desk
from spark_chat.tui.terminal import end_on_signals
from spark_chat.tui.themes import Themes
from spark_chat.tui.themes import load as load_themes
from spark_chat.tui.themes import one as one_theme
from spark_chat.tui.weighing import Weighing
from spark_chat.tui.writing import Writing

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.driver import Driver as Terminal
    from textual.events import Resize
    from textual.geometry import Size

    from spark_chat.chat.engine_room import Driving, EngineRoom
    from spark_chat.driver.snapshot import Snapshot, Update
    from spark_chat.history.journal import Journal
    from spark_chat.lab.runner import Driving as Measured
    from spark_chat.lab.runner import StageKeeper
    from spark_chat.settings.resolve import Resolved

Listener = Callable[["Update"], None]


def _driver(listener: Listener) -> Driving:
    from spark_chat.driver.driver import Driver

    return Driver(listener)


def _command_table() -> type[Provider]:
    from spark_chat.tui.palette import CommandTable

    return CommandTable


def _collect_garbage() -> None:
    """From here on, where the command line put it off; what the start made stays, and is not searched again."""
    if not gc.isenabled():
        from spark_chat.tui.garbage import collect_seldom

        collect_seldom()


class SparkApp(CopyingApp[int]):
    """`engine`: makes the engine's driver for a listener. `clock`: monotonic seconds. Tests give their own."""

    TITLE = "spark-chat"
    CSS_PATH = "spark.tcss"
    COMMAND_PALETTE_BINDING = keymap.unbound("palette")  # it has no id there, and so could not be moved
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "command_palette", "All commands", id="app.palette", show=False, priority=True),
        Binding("f1", "open_help", "Help", id="app.help", show=False),
    ]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_command_table}

    def __init__(
        self,
        resolved: Resolved,
        *,
        engine: Callable[[Listener], Driving] = _driver,
        clock: Callable[[], float] = time.monotonic,
        terminal: type[Terminal] | None = None,
    ) -> None:
        # Textual turns colours to greys under NO_COLOR, and to none at all where they are the terminal's own
        super().__init__(driver_class=terminal, ansi_color=True if "NO_COLOR" in os.environ else None)
        self.resolved, self.clock, self._engine = resolved, clock, engine
        self.accessible = resolved.settings.ui.accessible
        self.choices = Choices(resolved)
        if self.accessible:
            self.add_class("-accessible")
            self.animation_level = "none"
        self.chat = ChatScreen(quiet=self.accessible)
        self.session = Session(self.chat.view, resolved.settings, clock)
        self.opening = Opening(self)
        self.desk = Desk(self)
        self.actions = Actions(self)
        self.diary = diary("chat")
        self.writing = Writing(self)
        self.weighing = Weighing(self)
        self.side = Side(self)
        self.setting_up = SettingUp(self)
        self.room: EngineRoom | None = None
        self.set_keymap(keymap.use(resolved.settings))
        self.journal: Journal | None = None
        self.started_before = True
        self._saving = False
        self.bystander: Callable[[Update], bool] | None = None
        """Takes the updates of answers that are not the conversation's."""

    def get_default_screen(self) -> Screen[Any]:
        return self.chat

    def on_load(self) -> None:
        """Draws the first screen in its theme. To switch once it is drawn reads all styles again; so a dark theme,
        which is as the app starts anyway, is put in place before they are read. The other themes come later."""
        name = self.resolved.settings.ui.theme
        theme = one_theme(name)
        if theme is None or not theme.dark or theme.ansi:
            self.add_themes(load_themes())
            self.use_theme(name)
            return
        self.register_theme(theme)
        self.set_reactive(SparkApp.theme, name)
        self.set_class(True, f"-theme-{name}", update=False)
        self.stylesheet.set_variables(self.get_css_variables())

    async def on_event(self, event: Event) -> None:
        """A chosen message has its keys; any other key or paste ends the choice, before it goes where it goes."""
        fresh = isinstance(event, (Key, Paste)) and not event.is_forwarded
        key = event.key if isinstance(event, Key) else ""
        if not (fresh and self.screen_stack and self.screen is self.chat and self.chat.message_mode.take(key)):
            await super().on_event(event)

    def add_themes(self, found: Themes) -> None:
        """Take these; one with a fault in its file leaves an earlier one of its name as it was. The one of the settings
        is used where it is new: else a theme that was just picked, and is not saved yet, would go again."""
        drawn, known, wanted = self.current_theme, set(self.available_themes), self.choices.resolved.settings.ui.theme
        for theme in found.themes.values():
            if theme.name not in found.faulty or theme.name not in self.available_themes:
                self.register_theme(theme)
        self.choices.theme_problems = found.problems
        if wanted not in known:
            self.use_theme(wanted)
        if self.theme == drawn.name and self.current_theme != drawn:
            self.set_class(self.current_theme.dark, "-dark-mode", update=False)
            self.set_class(not self.current_theme.dark, "-light-mode", update=False)
            self.refresh_css(animate=False)
            self.theme_changed_signal.publish(self.current_theme)

    def use_theme(self, name: str) -> None:
        """Switch to a theme, where there is one of that name."""
        if name in self.available_themes and name != self.theme:
            self.theme = name

    def on_mount(self) -> None:
        end_on_signals(self, self.opening.close)
        self.theme_changed_signal.subscribe(self, self.opening.keep_theme)
        self.call_after_refresh(_collect_garbage)
        self.call_after_refresh(self.side.fit)
        self.call_after_refresh(self.run_worker, self.opening.open(), name="open")

    # ------------------------------------------------------------------ the engine

    def make_driver(self) -> Driving:
        return self._engine(self.listen)

    def listen(self, update: Update) -> None:
        """What the driver tells."""
        self.diary.update(update)
        if self.is_running and not (self.bystander and not hasattr(update, "snapshot") and self.bystander(update)):
            before = self.session.snapshot
            self.session.update(update)
            if not isinstance(update, Piece):
                self._moved(before, self.session.snapshot)

    def _moved(self, before: Snapshot, after: Snapshot) -> None:
        """The engine or an answer went a step further: what is on screen of it elsewhere than in the chat follows."""
        self.chat.composer.answering(self.session.busy)
        if (before.phase, before.ready) != (after.phase, after.ready):
            self.weighing.changed()
        if (before.phase, before.ready, before.badges) != (after.phase, after.ready, after.badges):
            for screen in self.screen_stack:
                follow = getattr(screen, "follow_engine", None)
                if follow is not None:
                    follow()

    def measuring_driver(self, listener: Listener, keeper: StageKeeper) -> Measured:
        """A driver of its own for a comparison; the chat's engine is stopped meanwhile."""
        from spark_chat.lab.bench import drive_alone

        return drive_alone(listener, keeper)

    def start(self, starting: Coroutine[Any, Any, None]) -> None:
        """Run a start of the engine; it takes the place of one that is under way."""
        self.run_worker(starting, name="engine", group="engine", exclusive=True)

    # ------------------------------------------------------------------ settings

    def look_at_settings(self) -> None:
        """Once a second: was the file changed by another program?"""
        if not self._saving and self.choices.look():
            self.use_settings(elsewhere=True)
        if self.opening.theme_files.look():
            self.run_worker(self.opening.read_themes(), name="themes", group="themes", exclusive=True)

    @on(SettingChanged)
    async def _save_setting(self, event: SettingChanged) -> None:
        from spark_chat.settings.problem import SettingsError

        sentence = ""
        self._saving = True
        try:
            await asyncio.to_thread(self.choices.save, event.key, event.text)
        except SettingsError as error:
            sentence = str(error)
        finally:
            self._saving = False
        self.use_settings(elsewhere=False, sentence=sentence)

    def use_settings(self, elsewhere: bool, sentence: str = "") -> None:
        """Put the settings in force to use, as far as they don't wait for a restart."""
        resolved = self.choices.resolved
        self.session.settings = resolved.settings
        self.set_keymap(keymap.use(resolved.settings))
        if self.room is not None:
            self.room.use(resolved)
        self.opening.tell_problems()
        self.chat.view.use(resolved.settings, elsewhere)
        self.side.fit()
        for screen in self.screen_stack:
            show = getattr(screen, "show", None)
            if screen is not self.chat and show is not None:
                show(sentence)

    @on(RestartWanted)
    def _restart(self) -> None:
        self.actions.action_restart()

    # ------------------------------------------------------------------ for the screens

    def run_command(self, name: str, argument: str = "") -> None:
        """Do what the table's command `name` says."""
        self.actions.do(name, argument)

    def say(self, sentence: str) -> None:
        """A sentence that goes away by itself."""
        if self.screen is self.chat:
            self.chat.view.say(sentence)
        else:
            super().notify(sentence, markup=False)

    def notify(self, message: str, **about: Any) -> None:
        """Above the composer, never over it."""
        self.say(message)

    def show_screen(self, kind: type[Screen[Any]]) -> None:
        """Open a screen over the chat, once."""
        if not isinstance(self.screen, kind) and self.has_room(self.size):
            self.push_screen(kind())

    def action_open_help(self) -> None:
        """Over whatever screen there is."""
        self.actions.action_help()

    def action_command_palette(self) -> None:
        if self.has_room(self.size):
            super().action_command_palette()

    def on_resize(self, event: Resize) -> None:
        """Textual 8.2.8 raises for a list without a single row or column: there only the chat stands."""
        while not self.has_room(event.size) and self.screen is not self.chat:
            self.pop_screen()
        if self.chat.is_mounted:
            self.side.fit(event.size.width)

    @staticmethod
    def has_room(size: Size) -> bool:
        """Whether a screen over the chat fits in."""
        return size.width >= 10 and size.height >= 5

    async def action_quit(self) -> None:
        await self.opening.leave()


def run(resolved: Resolved) -> int:
    """Open the chat. Returns the exit code."""
    from spark_chat.driver.lingering import farewell
    from spark_chat.tui.terminal import refusal
    from spark_chat.tui.tty_driver import TtyDriver

    why_not = refusal()
    if why_not is not None:
        print(why_not, file=sys.stderr)
        return 2
    app = SparkApp(resolved, terminal=TtyDriver)
    code = app.run(mouse=resolved.settings.ui.mouse)
    if app.room is not None and (goodbye := farewell(app.room.driver.snapshot.left)):
        print(goodbye)
    return app.return_code or 0 if code is None else code
