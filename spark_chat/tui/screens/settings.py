"""The settings, made from the schema: what runs, what is saved, what the default is. Saved a line at a time; what
needs a restart waits for one key."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from spark_chat.chat.choices import inline
from spark_chat.chat.engine_room import said
from spark_chat.settings.schema import Row, rows, sections
from spark_chat.tui.messages import RestartWanted, SettingChanged
from spark_chat.tui.plain import Plain
from spark_chat.tui.widgets.header import pending_text
from spark_chat.tui.widgets.setting import SettingView, detail_lines, head_text, hints_text, really, row_text

if TYPE_CHECKING:
    from spark_chat.tui.app import SparkApp


WRITING = "enter keep   esc leave it"


class SettingsScreen(Screen[None]):
    """All settings, one line each."""

    AUTO_FOCUS = "OptionList"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (12, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "Back to the chat", id="settings.back", show=False),
        Binding("backspace,delete", "default", "Back to the default", id="settings.default", show=False),
        Binding("left", "step(-1)", "Previous choice", id="settings.previous", show=False),
        Binding("right", "step(1)", "Next choice", id="settings.next", show=False),
        Binding("f5", "restart", "Restart the engine", id="settings.restart", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._sentence = ""
        self._told = ""
        self._typed = ("", "")
        """Key and text of what was entered last, until it is known whether it was taken."""

    def compose(self) -> ComposeResult:
        yield Plain(id="settings-title")
        yield Plain(id="settings-head")
        yield OptionList(id="settings-list", markup=False)
        yield Plain(id="settings-detail")
        yield Input(id="settings-input", classes="-hidden")
        yield Plain(hints_text(self.app.size.width - 4), id="settings-hints")

    @property
    def spark(self) -> SparkApp:
        return cast("SparkApp", self.app)

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _writing(self) -> bool:
        return not self.query_one(Input).has_class("-hidden")

    def on_mount(self) -> None:
        self.show()

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self.follow_engine)

    # ------------------------------------------------------------------ showing

    def _view(self, row: Row) -> SettingView:
        choices, room = self.spark.choices, self.spark.room
        started_with = room.started_with if room else choices.first
        origin = choices.resolved.origins.get(row.key)
        return SettingView(
            row,
            choices.running(row, started_with),
            choices.saved(row),
            choices.overridden_by(row),
            str(origin or "default"),
            really(row.key, self.spark.session.snapshot),
        )

    def show(self, sentence: str = "") -> None:
        """Bring everything up to date; `sentence` says what went wrong, where something did. What was typed and is
        refused by it can be put right."""
        self._draw(sentence)
        (key, text), self._typed = self._typed, ("", "")
        row = self._row()
        if sentence and row is not None and row.key == key:
            self._open_input(text)

    def _draw(self, sentence: str = "") -> None:
        listing = self._list
        width = max(20, listing.scrollable_content_region.width - 2)
        prompts: list[tuple[str | None, Content]] = []
        for section, about in sections():
            title = Content.assemble((section, "bold"), (f"  {about}", "$text-muted")).truncate(width, ellipsis=True)
            prompts.append((None, title))
            found = [row for row in rows() if row.key.startswith(f"{section}.")]
            prompts += [(row.key, row_text(self._view(row), width)) for row in found]
        if listing.option_count:
            for at, (_, prompt) in enumerate(prompts):
                listing.replace_option_prompt_at_index(at, prompt)
        else:
            listing.add_options([Option(prompt, id=key, disabled=key is None) for key, prompt in prompts])
            listing.highlighted = 1
        self.query_one("#settings-head", Plain).show(head_text(width))
        self.query_one("#settings-hints", Plain).show(WRITING if self._writing else hints_text(width))
        choices, room = self.spark.choices, self.spark.room
        pending = pending_text(len(room.pending) if room else 0, 60)
        path = str(choices.resolved.path or "no settings file: no home folder is known")
        self.query_one("#settings-title", Plain).show("   ".join(part for part in ("settings", pending, path) if part))
        self._told = sentence
        self._sentence = sentence or " ".join(choices.problems)
        self._show_detail()

    def follow_engine(self) -> None:
        """What runs changed, or how it is known to run: the sentence that stands there stays."""
        if self.is_mounted:
            self._draw(self._told)

    def _row(self) -> Row | None:
        at = self._list.highlighted
        if at is None:
            return None
        id = self._list.get_option_at_index(at).id
        return next((row for row in rows() if row.key == id), None)

    def _show_detail(self) -> None:
        row, sentence = self._row(), self._sentence
        lines = detail_lines(self._view(row)) if row else []
        detail = self.query_one("#settings-detail", Plain)
        detail.set_class(bool(sentence), "-warned")
        detail.show("\n".join([sentence, *lines] if sentence else lines))

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._show_detail()

    # ------------------------------------------------------------------ changing

    @on(OptionList.OptionSelected)
    def _change(self) -> None:
        row = self._row()
        if row is None:
            return
        saved = self.spark.choices.saved(row)
        if row.kind == "bool":
            self.post_message(SettingChanged(row.key, "false" if saved else "true"))
        elif row.kind == "choice":
            self.action_step(1)
        else:
            nothing = saved is None or saved == {}
            self._open_input("" if nothing else said(saved) if row.kind != "table" else inline(saved))

    def _open_input(self, text: str) -> None:
        field = self.query_one(Input)
        field.value = text
        field.remove_class("-hidden")
        field.focus()
        self.query_one("#settings-hints", Plain).show(WRITING)

    def action_step(self, by: int) -> None:
        """The next or the previous of the choices."""
        row = self._row()
        if row is None or not row.choices or row.kind != "choice":
            return
        saved = self.spark.choices.saved(row)
        at = row.choices.index(saved) if saved in row.choices else 0
        self.post_message(SettingChanged(row.key, row.choices[(at + by) % len(row.choices)]))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        row = self._row()
        text = event.value
        self._close_input()
        if row is not None:
            left_out = row.optional and not text.strip()
            self._typed = row.key, text
            self.post_message(SettingChanged(row.key, None if left_out else text))

    def action_default(self) -> None:
        row = self._row()
        if row is not None:
            self.post_message(SettingChanged(row.key, None))

    def _close_input(self) -> None:
        self.query_one(Input).add_class("-hidden")
        self._list.focus()
        self._draw(self._told)

    # ------------------------------------------------------------------ leaving

    def action_restart(self) -> None:
        self.dismiss()
        self.app.post_message(RestartWanted())

    def action_back(self) -> None:
        if self._writing:
            self._close_input()
        else:
            self.dismiss()
