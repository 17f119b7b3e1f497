"""What the commands do: one method for each action of the table of commands."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from spark_chat.chat.choices import as_text
from spark_chat.tui import commands, notices
from spark_chat.tui.messages import SettingChanged
from spark_chat.tui.quitting import AGAIN_WITHIN_S
from spark_chat.tui.themes import meant

if TYPE_CHECKING:
    from spark_chat.chat.engine_room import Change
    from spark_chat.tui.app import SparkApp


def _prompts(count: int) -> str:
    return f"{count} prompt{'' if count == 1 else 's'}"


class Actions:
    """The app's deeds."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._stopped_at = -AGAIN_WITHIN_S
        self._put_back: tuple[Change, ...] = ()

    def do(self, name: str, argument: str = "") -> None:
        """Do what the command `name` of the table says."""
        command = commands.find(name)
        if command is not None:
            self._app.chat.view.take_down("said")
            deed = getattr(self, f"action_{command.action}")
            deed(argument) if command.argument else deed()

    # ------------------------------------------------------------------ the conversation

    def action_new(self) -> None:
        app = self._app
        waiting = len(app.session.conversation.waiting)
        app.desk.turn_to(None)
        app.chat.composer.focus()
        if waiting:
            prompts = "1 prompt waits" if waiting == 1 else f"{waiting} prompts wait"
            app.say(f"{prompts} in the conversation that you left, and will be sent when you /resume it.")

    def action_stop(self) -> None:
        """Stop what runs. Prompts that wait follow at once, so a second time within 2 s takes those back too."""
        app, now = self._app, self._app.clock()
        session, again = app.session, now - self._stopped_at <= AGAIN_WITHIN_S
        self._stopped_at = now
        taken = session.clear_queue() if again else 0
        running = session.answering
        if running is not None:
            app.chat.view.stopping(running)
        session.stop()
        left = len(session.conversation.waiting)
        if taken:
            app.say(f"{_prompts(taken)} taken back, not sent; the up key recalls.")
        elif left:
            what = f"{_prompts(left)} more will follow: esc again takes all back, as /clear-queue does."
            app.chat.view.say(what, AGAIN_WITHIN_S)

    def action_clear_queue(self) -> None:
        count = self._app.session.clear_queue()
        self._app.say(f"{_prompts(count)} taken back, not sent; the up key recalls." if count else "Nothing waits.")

    def action_think(self, argument: str) -> None:
        from spark_chat.chat.thinking import think

        self._app.say(think(self._app.session, argument))

    def action_fold(self) -> None:
        if not self._app.chat.view.toggle_fold():
            self._app.say("There is nothing to fold: no answer here has reasoning, and no prompt is long.")

    def action_copy(self, argument: str) -> None:
        text = self._app.chat.view.text_to_copy(argument)
        if text is None:
            self._app.say("It is /copy, /copy all or /copy code.")
        elif not text:
            self._app.say("There is nothing to copy yet.")
        else:
            self._app.copy_to_clipboard(text)

    def action_export(self, argument: str) -> None:
        self._app.run_worker(self._export(argument), name="export", group="export")

    async def _export(self, argument: str) -> None:
        from spark_chat.chat.exporting import export

        app = self._app
        if app.journal is not None:
            app.say(await export(app.journal, app.session.conversation.id, argument, Path.cwd()))

    # ------------------------------------------------------------------ writing

    def action_prompt(self, argument: str) -> None:
        self._app.writing.insert(argument)

    def action_system(self, argument: str) -> None:
        self._app.writing.say_first(argument)

    def action_save_prompt(self, argument: str) -> None:
        self._app.writing.save(argument)

    def action_editor(self) -> None:
        self._app.writing.edit()

    def action_attach(self, argument: str) -> None:
        self._app.writing.attach(argument)

    def _accept_attach(self) -> None:
        self._app.writing.accept()

    # ------------------------------------------------------------------ one message

    def action_message(self) -> None:
        if not self._app.chat.message_mode.move(-1):
            self._app.say("There is no message here yet.")

    def action_edit(self, argument: str) -> None:
        text = argument.strip("\n")
        if not text.strip():
            self._with_last("edit")
        elif not self._app.chat.message_mode.ask_in_place(text):
            self._app.say("There is no message here yet.")

    def action_again(self) -> None:
        self._with_last("again")

    def action_more(self) -> None:
        self._with_last("go_on")

    def action_fork(self) -> None:
        self._with_last("fork")

    def _with_last(self, deed: str) -> None:
        """Do it to the message that is chosen, else to the last one."""
        if not self._app.chat.message_mode.do_to_last(deed):
            self._app.say("There is no message here yet.")

    # ------------------------------------------------------------------ the engine

    def action_restart(self) -> None:
        room = self._app.room
        if room is not None:
            self._app.chat.view.take_down("pending")
            self._app.start(room.restart())

    def action_go_on(self) -> None:
        """Do what the topmost offer above the composer says."""
        accept = self._app.chat.view.accept
        if accept:
            getattr(self, f"_accept_{accept}")()

    def _accept_confirm(self) -> None:
        if self._app.room is not None:
            self._app.start(self._app.room.driver.confirm())

    def _accept_last_ran(self) -> None:
        room, choices = self._app.room, self._app.choices
        if room is None:
            return
        self._put_back = tuple(change for change in room.kept_in_file if not choices.overridden_by(change.row))
        self._app.start(room.go_back())
        if self._put_back:
            self._app.chat.view.put(notices.put_back_notice([str(change) for change in self._put_back]))

    def _accept_put_back(self) -> None:
        """Save what runs again."""
        self._app.chat.view.take_down("pending")
        for change in self._put_back:
            self._app.post_message(SettingChanged(change.row.key, as_text(change.row, change.saved)))
        self._put_back = ()

    def _accept_drop(self) -> None:
        overflow = self._app.session.overflow
        if overflow is not None:
            self._app.chat.view.tell_dropped(overflow.drop)
        self._app.session.drop_oldest()

    def _accept_resume(self) -> None:
        self._app.run_worker(self._app.opening.go_on(), name="resume", exclusive=True, group="resume")

    def action_resume(self, argument: str) -> None:
        from spark_chat.tui.talks.screen import TalksScreen

        app = self._app
        if app.journal is None or not app.journal.keeps:
            app.say("No conversation is kept: the history is off, or cannot be written.")
        elif not isinstance(app.screen, TalksScreen) and app.has_room(app.size):
            app.push_screen(TalksScreen(argument))

    def action_title(self, argument: str) -> None:
        app = self._app
        shelf, conversation = app.desk.shelf, app.session.conversation
        if shelf is None or not len(conversation):
            app.say("There is nothing to name yet: the first prompt makes it a conversation.")
        else:
            shelf.rename(conversation.id, argument)
            app.say(f"It is called {argument}." if argument else "It has the name that its first prompt gives it.")

    # ------------------------------------------------------------------ screens

    def action_help(self) -> None:
        from spark_chat.tui.screens.help import HelpScreen

        self._app.show_screen(HelpScreen)

    def action_settings(self) -> None:
        from spark_chat.tui.screens.settings import SettingsScreen

        self._app.show_screen(SettingsScreen)

    def action_check(self, argument: str) -> None:
        from spark_chat.tui.lab.check import CheckScreen

        given = argument.strip("\n")
        if not isinstance(self._app.screen, CheckScreen):
            self._app.push_screen(CheckScreen(given or self._app.chat.composer.text, at_once=bool(given.strip())))

    def action_compare(self) -> None:
        from spark_chat.tui.lab.compare import CompareScreen

        self._app.show_screen(CompareScreen)

    def action_log(self, argument: str) -> None:
        from spark_chat.tui.screens.log import LogScreen

        if not isinstance(self._app.screen, LogScreen):
            self._app.push_screen(LogScreen(argument))

    def action_chart(self) -> None:
        self._app.chat.view.toggle_chart()

    def action_panel(self) -> None:
        self._app.side.toggle()

    def action_setup(self) -> None:
        self._app.run_worker(self._app.setting_up.again(), name="setup", group="setup")

    def _accept_setup(self) -> None:
        self._app.run_worker(self._app.setting_up.accept(), name="setup", group="setup")

    def _accept_old_kernels(self) -> None:
        self._app.run_worker(self._app.opening.tidying.accept(), name="tidy", group="tidy")

    def action_tour(self) -> None:
        self._app.opening.tour(1)

    def _accept_tour(self) -> None:
        self._app.opening.tour_on()

    def action_theme(self, argument: str) -> None:
        app = self._app
        if not argument:
            from spark_chat.tui.palette import theme_picker

            app.push_screen(theme_picker())
        elif argument in app.available_themes:
            app.theme = argument
        else:
            near = meant(argument, app.available_themes)
            app.say(f"There is no theme {argument}." + (f" Did you mean {near}?" if near else " /theme lists them."))

    def action_quit(self) -> None:
        asyncio.create_task(self._app.opening.leave())  # noqa: RUF006  # kept by Opening
