"""The message composer: prompt, chips, recall of earlier prompts, completion of commands.

It posts what the person means (`Submitted`, `CommandGiven`, `Refused`, `CopyWanted`, `DraftChanged`) and decides
nothing else. Escape, ctrl+c and ctrl+d that mean nothing here go on to the screen: see `quitting`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Static

from spark_chat.tui import commands
from spark_chat.tui.composer import chips, messages, pastes
from spark_chat.tui.composer.attaching import Attaching
from spark_chat.tui.composer.completing import Completing
from spark_chat.tui.composer.completion import Completion
from spark_chat.tui.composer.filling import Filling
from spark_chat.tui.composer.hint import Hint, Weight
from spark_chat.tui.composer.preview import Preview
from spark_chat.tui.composer.prompt import Prompt
from spark_chat.tui.composer.recall import Recall
from spark_chat.tui.composer.revising import Revising

DRAFT_AFTER_S = 0.3
LARGE_DRAFT_AFTER_S = 1.0
"""A changed draft is told of after this long, one with a pasted text of a megabyte after the longer time."""

TALLEST = 8
"""Rows of the prompt before it scrolls."""


class Composer(Vertical):
    DEFAULT_CSS = """
    Composer { height: auto; }
    Composer > Horizontal { height: auto; }
    Composer #mark { width: 2; color: $text-muted; }
    """

    Submitted: TypeAlias = messages.Submitted
    CommandGiven: TypeAlias = messages.CommandGiven
    Refused: TypeAlias = messages.Refused
    EditEnded: TypeAlias = messages.EditEnded
    DraftChanged: TypeAlias = messages.DraftChanged
    CopyWanted: TypeAlias = messages.CopyWanted

    def __init__(
        self, *, placeholder: str = "write here; paste anything", blink: bool = True, id: str | None = None
    ) -> None:
        """`blink` False: the cursor stands still, and nothing here repaints on a timer."""
        super().__init__(id=id)
        self._blink = blink
        self._chips = chips.Chips()
        self._recall = Recall()
        self._placeholder = placeholder
        self._telling: Timer | None = None
        self._told = ""
        self._pasted = False
        self.attaching = Attaching(self, self._chips)
        self.completing = Completing(self, self.attaching)
        self.revising = Revising(self)

    def compose(self) -> ComposeResult:
        yield Preview()
        yield Completion()
        with Horizontal():
            prompt = Prompt(self._chips, self._send, self._show_other, placeholder=self._placeholder)
            prompt.cursor_blink = self._blink
            yield Static(">", id="mark")
            yield prompt
            yield Hint()

    # -- for others

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @cached_property
    def filling(self) -> Filling:
        """The places of a saved prompt that are filled in here."""
        return Filling(self.prompt)

    @property
    def text(self) -> str:
        """What would be sent now."""
        return self.prompt.composed()

    def weigh(self, weight: Weight | None, *, soon: bool = False) -> None:
        """Show what is written weighed; None: it is not known, or will be `soon`."""
        self.query_one(Hint).weigh(weight, soon)

    def answering(self, whether: bool) -> None:
        """Whether there is something to stop."""
        self.query_one(Hint).show(answering=whether)

    @property
    def is_empty(self) -> bool:
        return not self.prompt.text

    @property
    def is_command(self) -> bool:
        """Whether what is written would be done, and not sent."""
        return self._meant(self.prompt.text) is not None

    @property
    def has_selection(self) -> bool:
        return bool(self.prompt.selected_text)

    def focus(self, scroll_visible: bool = True) -> Composer:
        self.prompt.focus(scroll_visible)
        return self

    def set_text(self, text: str) -> None:
        """Shows raw `text` (a draft that is restored); what cannot be typed as it is becomes a chip."""
        self.prompt.put(self._chips.admit(text))

    def insert(self, text: str) -> None:
        """Puts raw `text` where the cursor is."""
        self.prompt.admit(text)

    def paste(self, text: str) -> None:
        """A paste that reached another widget."""
        self.prompt.admit(pastes.received(text))
        self.focus()

    def take(self, remember: bool = True) -> str:
        """What is there, and an empty prompt; remembered as the last prompt."""
        document = self.prompt.text
        text = self._chips.compose(document)
        if remember:
            self._recall.sent(document)
        else:
            self._recall.given()
        self.prompt.put(self._recall.draft)
        self._chips.keep_only([*self._recall.documents(), self.prompt.text, self.revising.aside])
        self._close_preview()
        return text

    @property
    def draft(self) -> str:
        """All that would be lost with the app: what stands here, and what was put aside."""
        aside = self._chips.compose(self.revising.aside)
        return f"{aside}\n\n{self.text}" if aside and self.text else aside or self.text

    def recall(self, prompts: list[str], *, newest: bool = False) -> None:
        """Earlier prompts, oldest first, to go before those of this session; or behind them, as the `newest`."""
        documents = [self._chips.admit(text) for text in prompts]
        if newest:
            self._recall.add(documents)
        else:
            self._recall.fill(documents)

    def flush_draft(self) -> None:
        """Tells of the draft now: before the app ends."""
        if self._telling is not None:
            self._telling.stop()
            self._telling = None
        if (text := self.draft) != self._told:
            self._told = text
            self.post_message(self.DraftChanged(text))

    # -- what the prompt asks for

    def _send(self) -> None:
        document = self.prompt.text
        if not self._chips.compose(document).strip():
            return
        meant = self._meant(document)
        if isinstance(meant, commands.Unknown):
            self.post_message(self.Refused(meant.sentence))
            return
        if meant is None and (why_not := self._why_not()):
            self.post_message(self.Refused(why_not))
            return
        text = self.take(remember=meant is None)
        self.query_one(Completion).follow("", ())
        if meant is None:
            self.post_message(self.Submitted(text, self.revising.edits))
            self.revising.put_back()
        else:
            self.flush_draft()  # else the command itself would come back as what was being written
            self.post_message(self.CommandGiven(meant.command.name, meant.argument))

    def _meant(self, document: str) -> commands.Given | commands.Unknown | None:
        """The command that is given; a chip stands for text, and never for a part of one."""
        first = document.partition("\n")[0]
        return None if chips.has_chip(first) else commands.parse(self._chips.compose(document))

    def _why_not(self) -> str:
        """Why what is written is better not sent yet; the second time it is."""
        if self.filling.active and (missing := self.filling.missing()):
            names = ", ".join(f"{{{{{name}}}}}" for name in missing)
            return f"{names} is still to be written (tab goes on). Enter again sends it as it stands."
        return self.attaching.moved(self.prompt.text)

    def _show_other(self, step: int) -> None:
        if self.query_one(Completion).is_open:
            self.query_one(Completion).move(step)
            return
        preview = self.query_one(Preview)
        if preview.is_open:
            preview.scroll_relative(y=step, animate=False)
            return
        go = self._recall.earlier if step < 0 else self._recall.later
        document = go(self.prompt.text)
        if document is not None:
            self.prompt.put(document)
            self.query_one(Completion).dismiss(document)  # up and down go on recalling, past a command too
            self._close_preview()

    @on(Prompt.Changed)
    def _changed(self, event: Prompt.Changed) -> None:
        event.stop()
        typed = self.prompt.text
        self._pasted = False
        self.completing.follow(typed)
        if not typed:
            self.filling.clear()
        self._hint()
        self.post_message(messages.Written())
        preview = self.query_one(Preview)
        if preview.chip is not None and preview.chip not in typed:
            self._close_preview()
        if self._telling is None:
            after = LARGE_DRAFT_AFTER_S if len(self._told) > 1_000_000 else DRAFT_AFTER_S
            self._telling = self.set_timer(after, self.flush_draft)

    @on(Prompt.Pasted)
    def _after_paste(self, event: Prompt.Pasted) -> None:
        event.stop()
        self._pasted = event.text.endswith("\n")
        self._hint()
        self.attaching.look_at_paste(event.text)

    @on(Prompt.CopyWanted)
    def _copy(self, event: Prompt.CopyWanted) -> None:
        event.stop()
        self.post_message(self.CopyWanted(event.text))

    @on(Prompt.PasteWanted)
    def _paste(self, event: Prompt.PasteWanted) -> None:
        event.stop()
        self.run_worker(self._paste_clipboard(), name="paste", group="paste", exclusive=True)

    async def _paste_clipboard(self) -> None:
        from spark_chat.tui import clipboard

        text = await clipboard.paste()
        self.prompt.admit(self.app.clipboard if text is None else text)

    @on(Prompt.Opened)
    def _open(self, event: Prompt.Opened) -> None:
        event.stop()
        preview = self.query_one(Preview)
        if preview.chip == event.chip:
            self._close_preview()
        else:
            preview.open(event.chip, self._chips.text(event.chip), self._chips.title(event.chip))

    @on(Preview.Closed)
    def _leave_preview(self, event: Preview.Closed) -> None:
        event.stop()
        self._close_preview()
        self.insert(event.typed)

    def _close_preview(self) -> None:
        preview = self.query_one(Preview)
        if preview.is_open:
            if preview.has_focus:
                self.focus()
            preview.close()

    # -- keys that the prompt left alone

    def on_key(self, event: events.Key) -> None:
        completion, preview = self.query_one(Completion), self.query_one(Preview)
        if event.key == "tab" and completion.chosen is not None:
            self.completing.take(completion.chosen)
        elif event.key in ("tab", "shift+tab") and self.filling.active and self.filling.step(event.key == "tab"):
            self._hint()
        elif event.key == "escape" and completion.is_open:
            completion.dismiss(self.prompt.text)
        elif event.key == "escape" and preview.is_open:
            self._close_preview()
        elif event.key == "escape" and self.revising.edits:
            self.revising.end()
        elif event.key in ("pageup", "pagedown") and preview.is_open:
            (preview.scroll_page_up if event.key == "pageup" else preview.scroll_page_down)(animate=False)
        elif event.key == "alt+o" and (chip := self.prompt.chip_near_cursor()) is not None:
            self._open(Prompt.Opened(chip))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_resize(self) -> None:
        """A third of a small terminal at most."""
        self.prompt.styles.max_height = max(1, min(TALLEST, self.app.size.height // 3))
        self._hint()

    def _hint(self) -> None:
        self.query_one(Hint).show(empty=self.is_empty, pasted=self._pasted, slots=self.filling.active)
