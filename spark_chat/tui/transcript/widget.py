"""The conversation as the app sees it: prompts, answers and notices by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from spark_chat.tui.transcript import drawing
from spark_chat.tui.transcript.answer import Answer
from spark_chat.tui.transcript.document import Document, Place
from spark_chat.tui.transcript.entry import Entry, Notice, Prompt
from spark_chat.tui.transcript.looks import COMPONENTS, CSS
from spark_chat.tui.transcript.selecting import selected_text
from spark_chat.tui.transcript.view import View


@dataclass(frozen=True)
class Restored:
    """One entry of a stored conversation. `kind` is prompt, answer or a notice's (info, warning, error)."""

    kind: str
    id: str
    text: str
    label: str = ""
    reasoning: str = ""
    note: str = ""
    line: str = ""
    state: str = "done"


class Transcript(View):
    """Prompts, answers and notices on the screen."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CSS = CSS

    _pointed: int | None = None
    """The entry that the mouse was pressed on."""

    def add_prompt(self, id: str, text: str, queued: bool = False) -> None:
        """What the person sent; the view goes to the end."""
        self._document.add(Prompt(id, text, queued))
        self.follow_end() if self.follow else self._wake()

    def set_mark(self, id: str, mark: str) -> None:
        """What stands under a prompt: that it waits, or was not sent; "" for nothing. An unknown id does nothing."""
        found = self._document.find(Prompt, id)
        if found and found[1].mark != mark:
            found[1].set_mark(mark)
            self._document.changed(found[0])
            self._wake()

    def set_status(self, id: str, status: str) -> None:
        """What an answer does that shows no text: read the prompt, stop. Gone with its end."""
        found = self._document.find(Answer, id)
        if found and found[1].set_status(status):
            self._document.changed(found[0])
            self._wake()

    def add_answer(self, id: str, label: str) -> None:
        """An answer begins, under its prompt and above those that wait. `label`: the model's short name."""
        earlier, prompt = self._document.find(Answer, id), self._document.find(Prompt, id)
        above = earlier[0] if earlier else prompt[0] if prompt else None
        self._document.add(Answer(id, label), at=None if above is None else above + 1)
        self._wake()

    def append(self, id: str, text: str, reasoning: str = "", note: str = "") -> None:
        """More of an answer. Only stores; the screen follows within PERIOD. `note`: "2.1 s · 143 tok" of thought."""
        if answer := self._answer(id):
            answer.append(text, reasoning, note)
            self._busy[id] = answer
            self._wake()

    def finish(self, id: str, line: str, state: str = "done", note: str = "") -> None:
        """The answer is over: `line` has its numbers, `state` is done, stopped or failed."""
        if answer := self._answer(id):
            answer.finish(line, state, note)
            self._busy[id] = answer
            self._wake()

    def add_notice(self, kind: str, text: str) -> None:
        """A sentence of the app: `kind` is info, warning or error."""
        self._document.add(Notice(f"notice:{len(self._document.entries)}", kind, text))
        self._wake()

    def restore(self, entries: Iterable[Restored]) -> None:
        """Show a stored conversation. Cheap at any length: entries are laid out when they come near the screen."""
        for stored in entries:
            entry: Entry
            if stored.kind == "prompt":
                entry = Prompt(stored.id, stored.text, stored.state == "queued")
            elif stored.kind == "answer":
                entry = answer = Answer(stored.id, stored.label)
                answer.append(stored.text, stored.reasoning, stored.note)
                answer.finish(stored.line, stored.state, stored.note)
            else:
                entry = Notice(stored.id, stored.kind, stored.text)
            self._document.add(entry, lazy=True)
        self._wake()

    def clear(self) -> None:
        """Take everything away."""
        old, self._document = self._document, Document(self._document.palette)
        self._document.width, self._document.labelled = old.width, old.labelled
        self._busy.clear()
        self._following = self.follow
        self._wake()

    def toggle_reasoning(self, id: str | None = None) -> bool:
        """Open or close what an answer thought; None: the last answer's that thought anything. False: nothing is."""
        for at in reversed(range(len(self._document.entries))):
            entry = self._document.entries[at]
            if isinstance(entry, Answer) and (id is None or entry.id == id) and self._toggle(at):
                return True
        return False

    def plain_text(self, id: str) -> str:
        """The answer's text as it came, uncleaned; the prompt's where there is no answer; "" for an unknown id."""
        if answer := self._document.find(Answer, id):
            return answer[1].raw
        prompt = self._document.find(Prompt, id)
        return prompt[1].raw if prompt else ""

    def _answer(self, id: str) -> Answer | None:
        found = self._document.find(Answer, id)
        return found[1] if found else None

    # ------------------------------------------------------------------ mouse and selection

    def _place_at(self, y: int) -> Place | None:
        return self._document.place(round(self.scroll_y) + y)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        place = self._place_at(event.y)
        self._pointed = None if place is None else place.entry

    def on_click(self, event: events.Click) -> None:
        if self.has_more_below and event.y == self.size.height - 1 and event.x >= self.columns - len(drawing.MORE):
            self.follow_end()
            return
        place = self._place_at(event.y)
        if place is None or place.slot is None or self.text_selection is not None:
            return
        self._toggle(place.entry, place.slot)

    def text_select_all(self) -> None:
        """A double click selects the entry that was pointed at, not the whole conversation."""
        if self._pointed is None or self._pointed >= len(self._document.entries):
            return
        end = 1 << 20
        self.screen.selections = {
            self: Selection(
                Offset(0, drawing.line_number(self._pointed, 0)), Offset(end, drawing.line_number(self._pointed, end))
            )
        }

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text of what is selected."""
        return selected_text(self._document, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
