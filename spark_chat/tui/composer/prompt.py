"""The text area one writes in. It knows chips as single, unbreakable things, and which keys make a newline."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from spark_chat.tui.composer import chips, pastes
from spark_chat.tui.widgets.area import Area

NEWLINE_KEYS = frozenset(
    {
        "shift+enter",  # the kitty keyboard protocol, and tmux with extended-keys-format csi-u
        "alt+enter",
        "ctrl+enter",
        "ctrl+j",  # LF: any terminal; also what the driver makes of the ESC CR that alt+enter sends elsewhere
        "shift+\r",  # xterm's modifyOtherKeys and tmux's default extended keys, as Textual names them
        "ctrl+\r",
        "\r",
    }
)

_ELSEWHERE = frozenset({"shift+up", "shift+down", "pageup", "pagedown", "ctrl+c", "super+c", "ctrl+d"})
"""Keys of a text area that mean something to the screen as well: they go the usual way."""


class Prompt(Area):
    """Enter is never typed: it calls `send`. Up on the first row and down on the last call `recall` with -1 and 1.
    Both are called, not messaged: the next key may already wait, and must find the prompt as they leave it.
    A chip is entered, left, selected and removed as a whole."""

    DEFAULT_CSS = """
    Prompt { height: auto; max-height: 8; border: none; padding: 0; background: transparent; }
    Prompt:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+up,ctrl+up", "recall(-1)", "Earlier prompt", show=False),
        Binding("alt+down,ctrl+down", "recall(1)", "Later prompt", show=False),
    ]

    class Opened(Message):
        """A chip was clicked, or opened with the key."""

        def __init__(self, chip: str) -> None:
            super().__init__()
            self.chip = chip

    class CopyWanted(Message):
        """`text` is to go to the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class PasteWanted(Message):
        """ctrl+v: the terminal sent the key, not the paste."""

    class Pasted(Message):
        """`text` was pasted. Comes behind the change that it made."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Used(Message):
        """A key or a paste came here, whatever it did. Comes in its place among the keys that go on to the screen."""

    def __init__(
        self, held: chips.Chips, send: Callable[[], None], recall: Callable[[int], None], *, placeholder: str = ""
    ) -> None:
        super().__init__(placeholder=placeholder, highlight_cursor_line=False, compact=True)
        self._held = held
        self._send = send
        self._recall = recall

    # -- what is in it

    def composed(self) -> str:
        return self._held.compose(self.text)

    def put(self, document: str) -> None:
        """Shows `document`, the cursor at its end."""
        self.load_text(document)
        self.move_cursor(self.document.end)

    def admit(self, text: str) -> None:
        """Inserts text from outside in place of the selection, as itself or as a chip."""
        if text:
            self.replace(self._held.admit(text), *self.selection, maintain_selection_offset=False)
            self.scroll_cursor_visible()

    def put_in(self, document: str, start: Location, end: Location) -> None:
        """Puts what is known to be fit for the document in place of what stands there; it can be undone."""
        self.replace(document, start, end, maintain_selection_offset=False)
        self.scroll_cursor_visible()

    @property
    def end(self) -> Location:
        """Where the document ends."""
        return self.document.end

    def index_of(self, location: Location) -> int:
        """Characters of the document before `location`."""
        row, column = location
        return sum(len(line) + 1 for line in self.document.lines[:row]) + column

    def location_of(self, index: int) -> Location:
        """Where the character number `index` of the document stands."""
        for row, line in enumerate(self.document.lines):
            if index <= len(line):
                return row, index
            index -= len(line) + 1
        return self.document.end

    def chip_near_cursor(self) -> str | None:
        """The chip the cursor stands at, else the last before it, else the first."""
        found = [(row, span) for row, line in enumerate(self.document.lines) for span in chips.spans(line)]
        before = [span.chip for row, span in found if (row, span.start) <= self.cursor_location]
        return before[-1] if before else found[0][1].chip if found else None

    # -- keys

    EDITING: ClassVar[dict[str, str]] = {
        key: binding.action
        for binding in TextArea.BINDINGS
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
        if key not in _ELSEWHERE
    }
    """Key -> action. Done as the key comes: as bindings they would wait until the key has bubbled to the app, and the
    letters typed behind a backspace or ctrl+u would overtake it whenever the machine is busy."""

    async def on_key(self, event: events.Key) -> None:
        if event.key != "ctrl+c":
            self.post_message(self.Used())
        if event.key == "enter":
            self._send()
        elif (action := self.EDITING.get(event.key)) is not None:
            if not await self.app.run_action(action, self):
                return
        elif event.key in NEWLINE_KEYS:
            self.replace("\n", *self.selection, maintain_selection_offset=False)
        elif event.character and ord(event.character) >= 0xA0 and not event.is_printable:
            self.admit(event.character)  # a text area drops it: icons of the private use area, joiners
        elif event.key.startswith("alt+"):
            event.prevent_default()  # a text area types its letter; bindings still get the key
            return
        else:
            return
        event.stop()
        event.prevent_default()

    async def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.post_message(self.Used())
        text = pastes.received(event.text)
        self.admit(text)
        self.post_message(self.Pasted(text))

    def action_recall(self, step: int) -> None:
        self._recall(step)

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self._on_edge_row(up=True):
            self._recall(-1)
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self._on_edge_row(up=False):
            self._recall(1)
        else:
            super().action_cursor_down(select)

    def action_delete_right(self) -> None:
        """ctrl+d at an empty prompt is not for us: it quits."""
        if not self.text:
            raise SkipAction()
        super().action_delete_right()

    def action_copy(self) -> None:
        """ctrl+c with nothing selected is not for us: it stops or quits."""
        if not self.selected_text:
            raise SkipAction()
        self.post_message(self.CopyWanted(self._held.compose(self.selected_text)))
        self.selection = Selection.cursor(self.cursor_location)

    def action_cut(self) -> None:
        if not self.selected_text:
            self.select_line(self.cursor_location[0])
        if self.selected_text:
            self.post_message(self.CopyWanted(self._held.compose(self.selected_text)))
            self.delete(*self.selection, maintain_selection_offset=False)

    def action_paste(self) -> None:
        self.post_message(self.PasteWanted())

    def _on_edge_row(self, *, up: bool) -> bool:
        """Whether the cursor is on the first (last) row as wrapped on the screen."""
        _, y = self.wrapped_document.location_to_offset(self.cursor_location)
        return y == 0 if up else y >= self.wrapped_document.height - 1

    # -- chips are whole

    def edit(self, edit: Edit) -> EditResult:
        """Widens an edit that cuts into a chip to all of it; one that only inserts goes after it."""
        start, end = edit.top, edit.bottom
        if start == end:
            start = end = self._outside(start, forward=True)
        else:
            start, end = self._outside(start, forward=False), self._outside(end, forward=True)
        if (start, end) != (edit.top, edit.bottom):
            edit = Edit(edit.text, start, end, edit.maintain_selection_offset)
        return super().edit(edit)

    def watch_selection(self, before: Selection, after: Selection) -> None:
        """A cursor that lands in a chip goes on to the end it was heading for."""
        start = self._outside(after.start, forward=after.start > after.end)
        end = self._outside(after.end, forward=after.end > before.end)
        if (start, end) != (after.start, after.end):
            self.selection = Selection(start, end)

    def _outside(self, location: Location, *, forward: bool) -> Location:
        row, column = location
        if row < self.document.line_count:
            for span in chips.spans(self.document.get_line(row)):
                if span.start < column < span.end:
                    return row, span.end if forward else span.start
        return location

    async def on_click(self, event: events.Click) -> None:
        row, column = self.get_target_document_location(event)
        for span in chips.spans(self.document.get_line(row)):
            if span.start <= column < span.end:
                self.post_message(self.Opened(span.chip))

    # -- drawing

    def get_line(self, line_index: int) -> Text:
        line = self.document.get_line(line_index)
        text = Text(self._held.shown(line), end="", no_wrap=True)
        for span in chips.spans(line):
            text.stylize("reverse", span.start, span.end)
        return text
