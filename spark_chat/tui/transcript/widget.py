"""The conversation as the app sees it: prompts, answers and notices by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from spark_chat.tui.transcript import drawing, places
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
    """queued for a prompt that waits, answering for an answer that still comes, else how it ended."""
    versions: str = ""
    mark: str = ""
    """What stands under a prompt."""


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

    def add_answer(self, id: str, label: str, versions: str = "") -> None:
        """An answer begins, under its prompt and above those that wait. `label`: the model's short name. `versions`:
        which of several answers it is, `2/3`."""
        earlier, prompt = self._document.find(Answer, id), self._document.find(Prompt, id)
        above = earlier[0] if earlier else prompt[0] if prompt else None
        answer = Answer(id, label)
        answer.versions = versions
        self._document.add(answer, at=None if above is None else above + 1)
        self._wake()

    def append(self, id: str, text: str, reasoning: str = "", note: str = "") -> None:
        """More of an answer. Only stores; the screen follows within PERIOD. `note`: "2.1 s · 143 tok" of thought."""
        if answer := self._answer(id):
            answer.append(text, reasoning, note)
            self._busy[id] = answer
            self._wake()

    def recast(self, id: str) -> None:
        """All text of an answer so far was a thought."""
        if answer := self._answer(id):
            answer.recast()
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
                entry = prompt = Prompt(stored.id, stored.text, stored.state == "queued")
                prompt.mark = stored.mark or prompt.mark
            elif stored.kind == "answer":
                entry = answer = Answer(stored.id, stored.label)
                answer.append(stored.text, stored.reasoning, stored.note)
                if stored.state == "answering":
                    self._busy[stored.id] = answer
                else:
                    answer.finish(stored.line, stored.state, stored.note)
            else:
                entry = Notice(stored.id, stored.kind, stored.text)
            entry.versions = stored.versions
            self._document.add(entry, lazy=True)
        self._wake()

    def cut_behind(self, id: str | None) -> None:
        """Take away everything from the first prompt behind the exchange `id` on; with None from the first one on."""
        entries = self._document.entries
        at = 1 + max((number for number, entry in enumerate(entries) if entry.id == id), default=-1)
        while at < len(entries) and not isinstance(entries[at], Prompt):
            at += 1
        for entry in entries[at:]:
            self._busy.pop(entry.id, None)
        self._document.cut(at)
        self._wake()

    # ------------------------------------------------------------------ choosing a message

    @property
    def chosen(self) -> tuple[str, str] | None:
        """The message that is chosen: prompt or answer, and its id."""
        entry = self._document.chosen
        return None if entry is None else ("answer" if isinstance(entry, Answer) else "prompt", entry.id)

    def choose(self, step: int) -> bool:
        """Choose the message `step` further; the lowest in view where none is chosen. False where there is none."""
        entries = self._document.entries
        messages = [at for at, entry in enumerate(entries) if isinstance(entry, (Prompt, Answer))]
        if not messages:
            return False
        if self._document.chosen is None:
            bottom = round(self.scroll_y) + self.size.height
            seen = [at for at in messages if self._document.top(at) + (at > 0) < bottom]
            found = (messages if self._following else seen or messages)[-1]
        else:
            here = messages.index(entries.index(self._document.chosen))
            found = messages[max(0, min(len(messages) - 1, here + step))]
        self._choose(found)
        return True

    def choose_message(self, kind: str, id: str) -> bool:
        """Choose that one; False where it does not stand there."""
        found = self._document.find(Answer if kind == "answer" else Prompt, id)
        if found is None:
            return False
        self._choose(found[0])
        return True

    def _choose(self, at: int) -> None:
        self._document.chosen = self._document.entries[at]
        self._document.mark = ">" if self.app.has_class("-accessible") else "▌"
        self._bring(at)

    def choose_none(self) -> None:
        """No message is chosen any more."""
        self._document.chosen = None
        self._wake(soon=True)

    def folds(self, kind: str, id: str) -> bool:
        """Whether something in that message folds: a long prompt, or what an answer thought."""
        if kind == "answer":
            answer = self._answer(id)
            return answer is not None and bool(answer.reasoning)
        prompt = self._document.find(Prompt, id)
        return prompt is not None and prompt[1].long

    def toggle(self, kind: str, id: str) -> bool:
        """Open or close what folds in that message."""
        found = self._document.find(Answer if kind == "answer" else Prompt, id)
        return found is not None and self._toggle(found[0])

    # ------------------------------------------------------------------ where one reads

    @property
    def place(self) -> dict[str, Any] | None:
        """Where the person has scrolled to, for `go_to`; None at the end."""
        if self._following or not self.has_more_below:
            return None
        return places.kept(self._document, round(self.scroll_y))

    def go_to(self, where: Mapping[str, Any]) -> bool:
        """Scroll to where `place` was; False where what was there is gone."""
        place = places.found(self._document, where)
        if place is None:
            return False
        self._read_at(place)
        return True

    def clear(self) -> None:
        """Take everything away."""
        old, self._document = self._document, Document(self._document.palette)
        self._document.width, self._document.labelled = old.width, old.labelled
        self._busy.clear()
        self._following = self.follow
        self._wake()

    def toggle_last(self) -> bool:
        """Open or close what folds in the chosen message, else in the last answer that thought anything, else in the
        last long prompt. False where nothing folds."""
        if (chosen := self.chosen) is not None:
            return self.toggle(*chosen)
        return self.toggle_reasoning() or any(
            isinstance(entry, Prompt) and self._toggle(at)
            for at, entry in reversed(list(enumerate(self._document.entries)))
        )

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
