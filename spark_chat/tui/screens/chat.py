"""The chat: header, transcript, notices, meters, composer. Keys come in here; what they mean is asked elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen

from spark_chat.settings.keys import ACTIONS
from spark_chat.tui import commands, keymap, notices
from spark_chat.tui.composer import Composer
from spark_chat.tui.composer.attaching import PathsDropped
from spark_chat.tui.composer.messages import Written
from spark_chat.tui.composer.prompt import Prompt
from spark_chat.tui.message_mode import MessageMode
from spark_chat.tui.quitting import AGAIN_WITHIN_S, HINT, HINT_WRITTEN, Quitting, Wish
from spark_chat.tui.screens.chat_view import ChatView
from spark_chat.tui.transcript import Transcript
from spark_chat.tui.widgets.badge import BadgeWidget
from spark_chat.tui.widgets.header import Header
from spark_chat.tui.widgets.message_bar import MessageBar
from spark_chat.tui.widgets.meters import Meters
from spark_chat.tui.widgets.notice import NoticePanel

if TYPE_CHECKING:
    from spark_chat.chat.conversation import Exchange
    from spark_chat.tui.app import SparkApp

HANDLED_BY_QUITTING = ("escape", "ctrl+c", "ctrl+d", "ctrl+q")


def command_bindings() -> list[BindingType]:
    """Keys of the table of commands, each with an id, so that a keymap can move it."""
    found: list[BindingType] = []
    for command in commands.COMMANDS:
        keys = [key for key in command.keys if key not in HANDLED_BY_QUITTING]
        if keys or keymap.action_of(command.name) in ACTIONS:
            action = f"run_command('{command.name}')"
            given = ",".join(keys) or keymap.unbound(command.name)
            found.append(Binding(given, action, command.help, id=f"chat.{command.name}", show=False, priority=True))
    return found


SCROLLING: list[BindingType] = [
    Binding("pageup", "scroll_transcript('page_up')", "Page up", id="scroll.page_up", show=False, priority=True),
    Binding(
        "pagedown", "scroll_transcript('page_down')", "Page down", id="scroll.page_down", show=False, priority=True
    ),
    Binding("shift+up", "scroll_transcript('scroll_up')", "Scroll up", id="scroll.up", show=False, priority=True),
    Binding(
        "shift+down", "scroll_transcript('scroll_down')", "Scroll down", id="scroll.down", show=False, priority=True
    ),
    Binding(
        "ctrl+home", "scroll_transcript('scroll_home')", "To the start", id="scroll.start", show=False, priority=True
    ),
    Binding(
        "ctrl+end", "scroll_transcript('scroll_end')", "To the newest", id="scroll.newest", show=False, priority=True
    ),
    Binding("end", "newest", "To the newest", id="scroll.end", show=False, priority=True),
]
"""The transcript never has the focus: its keys work from wherever one is."""


def _quiet(screen: ChatScreen) -> ChatView:
    from spark_chat.tui.screens.quiet_view import QuietView

    return QuietView(screen)


class ChatScreen(Screen[None]):
    """One conversation."""

    AUTO_FOCUS = "Prompt"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (40, "-narrow"), (70, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (12, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [*command_bindings(), *SCROLLING]

    def __init__(self, quiet: bool = False) -> None:
        """`quiet`: in accessible mode."""
        super().__init__()
        self._quitting = Quitting()
        self.view = _quiet(self) if quiet else ChatView(self)
        self.message_mode = MessageMode(self)

    def compose(self) -> ComposeResult:
        # What the breakpoints will say, before the widgets are there: else all of them are styled twice at the start.
        self.set_class(self.app.size.width >= 70, "-wide")
        self.set_class(self.app.size.height >= 12, "-tall")
        yield Header()
        with Horizontal(id="middle"):
            yield Transcript(follow=self.spark.resolved.settings.ui.follow)
        yield NoticePanel(plain=self.spark.accessible)
        yield Meters()
        yield MessageBar()
        composer = Composer(blink=not self.spark.accessible)
        composer.completing.arguments = self.spark.writing.arguments
        yield composer

    @property
    def spark(self) -> SparkApp:
        """The app, by its own type."""
        return cast("SparkApp", self.app)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    # ------------------------------------------------------------------ keys

    def on_key(self, event: events.Key) -> None:
        """Keys that no widget took. Who types means the composer, wherever the focus is."""
        if event.is_printable and event.character and event.key not in ("space", "enter"):
            self._quitting.disarm()
            self.composer.insert(event.character)
            self.composer.focus()
            event.stop()
            return
        wish = self._quitting.press(
            event.key,
            answering=self.spark.session.busy,
            empty=self.composer.is_empty,
            selected=self.composer.has_selection or bool(self.get_selected_text()),
            now=self.spark.clock(),
        )
        if wish in (Wish.NOTHING, Wish.COPY):
            if event.key == "escape" and (self._close_proof() or self.view.dismiss()):
                event.stop()
                event.prevent_default()
            return
        event.stop()
        event.prevent_default()
        if wish is Wish.STOP:
            self.spark.run_command("stop")
        elif wish is Wish.WARN:
            self.view.say(HINT if self.composer.is_empty else HINT_WRITTEN, AGAIN_WITHIN_S)
        elif wish is Wish.QUIT:
            self.spark.run_command("quit")

    def on_paste(self, event: events.Paste) -> None:
        """A paste that no widget took."""
        event.stop()
        self._quitting.disarm()
        self.composer.paste(event.text)

    @on(Prompt.Used)
    def _went_on(self, event: Prompt.Used) -> None:
        event.stop()
        self._quitting.disarm()

    def action_scroll_transcript(self, how: str) -> None:
        """Scroll the conversation, wherever the focus is; from a badge, what is open on it."""
        self._quitting.disarm()
        panel = self.view.proof if isinstance(self.focused, BadgeWidget) else None
        getattr(panel or self.query_one(Transcript), f"action_{how}")()

    def action_newest(self) -> None:
        """End: to the newest, where the composer's cursor has no further to go in its line."""
        prompt, transcript = self.composer.prompt, self.query_one(Transcript)
        if not transcript.has_more_below or (prompt.has_focus and not prompt.cursor_at_end_of_line):
            raise SkipAction
        transcript.follow_end()

    def action_run_command(self, name: str, argument: str = "") -> None:
        """Do what the table's command `name` says."""
        self._quitting.disarm()
        self.spark.run_command(name, argument)

    def action_copy_text(self) -> None:
        """ctrl+c over selected text."""
        text = self.get_selected_text()
        if text:
            self.spark.copy_to_clipboard(text)
            self.clear_selection()

    # ------------------------------------------------------------------ the composer

    def edit(self, exchange: Exchange) -> None:
        """Have the prompt of `exchange` in the composer, to be asked in its place."""
        self.composer.revising.begin(exchange.prompt, exchange.id)
        self.view.put(notices.editing_notice())

    @on(Composer.EditEnded)
    def _edit_ended(self, event: Composer.EditEnded) -> None:
        self.view.take_down("editing")

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        self.view.take_down("said")
        edited = self.spark.session.conversation.find(event.edits) if event.edits else None
        if edited is not None:
            self.spark.session.versions.edit(edited, event.text)
            self.query_one(Transcript).follow_end()
        else:
            self.spark.session.send(event.text)
        self.spark.opening.begun()
        self.spark.writing.changed()

    @on(Composer.CommandGiven)
    def _command(self, event: Composer.CommandGiven) -> None:
        self.spark.run_command(event.name, event.argument)

    @on(Composer.Refused)
    def _refused(self, event: Composer.Refused) -> None:
        self.spark.say(event.sentence)

    @on(Composer.CopyWanted)
    def _copy(self, event: Composer.CopyWanted) -> None:
        self.spark.copy_to_clipboard(event.text)

    @on(Written)
    def _written(self, event: Written) -> None:
        self.spark.weighing.changed()

    @on(PathsDropped)
    def _dropped(self, event: PathsDropped) -> None:
        self.spark.writing.offer(event)

    @on(Composer.DraftChanged)
    def _draft(self, event: Composer.DraftChanged) -> None:
        self.spark.opening.keep_draft(event.text)
        self.spark.writing.changed()

    # ------------------------------------------------------------------ badges

    @on(BadgeWidget.Opened)
    def _open_badge(self, event: BadgeWidget.Opened) -> None:
        if self.view.proof_shown == event.name:
            self._close_proof()
        else:
            self.view.show_proof(event.name)

    def _close_proof(self) -> bool:
        if self.view.proof_shown is None:
            return False
        self.view.close_proof()
        self.composer.focus()
        return True
