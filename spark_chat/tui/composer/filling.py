"""Filling in the places of a saved prompt, in the composer's own text: tab goes from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets.text_area import Selection

from spark_chat.tui.composer.pastes import is_plain

if TYPE_CHECKING:
    from spark_chat.prompts.prompt import Prompt as Saved
    from spark_chat.prompts.slots import Slots, Step
    from spark_chat.tui.composer.prompt import Prompt


class Filling:
    """Over one prompt widget."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._seen: Slots | None = None
        """None until a saved prompt is inserted: most sittings never see one."""
        self._warned = ""

    @property
    def _slots(self) -> Slots:
        if self._seen is None:
            from spark_chat.prompts.slots import Slots

            self._seen = Slots()
        return self._seen

    @property
    def active(self) -> bool:
        """Whether there are places to step to."""
        return self._seen is not None and self._seen.active

    def clear(self) -> None:
        self._seen = None

    def insert(self, saved: Saved) -> None:
        """Put `saved` where the cursor is, and go to its first place."""
        prompt = self._prompt
        if not is_plain(saved.text):
            prompt.admit(saved.text)
            return
        start = prompt.index_of(min(prompt.selection))
        prompt.put_in(saved.text, *prompt.selection)
        self._slots.begin(saved)
        self._go(self._slots.step(prompt.text, start))

    def step(self, forward: bool) -> bool:
        """On to the next place, or back; False where there is none."""
        prompt = self._prompt
        at = max(prompt.selection) if forward else min(prompt.selection)
        step = self._slots.step(prompt.text, prompt.index_of(at), forward)
        self._go(step)
        return step is not None

    def missing(self) -> tuple[str, ...]:
        """Before it is sent: fill in what stands in, go to the first place that is left and name those that are. Asked
        again for the same text, nothing is missing: it is sent as it stands."""
        if not self.active:
            return ()
        from spark_chat.prompts.slots import Step

        prompt = self._prompt
        document = self._slots.finished(prompt.text)
        if document != prompt.text:
            self._go(Step(document, len(document), len(document)))
        left = self._slots.left(document)
        if not left or self._warned == document:
            self._warned = ""
            return ()
        self._warned = document
        self._go(self._slots.step(document, 0))
        return left

    def _go(self, step: Step | None) -> None:
        if step is None:
            return
        prompt = self._prompt
        if step.document != prompt.text:
            prompt.put_in(step.document, (0, 0), prompt.document.end)
        prompt.selection = Selection(prompt.location_of(step.start), prompt.location_of(step.end))
        prompt.scroll_cursor_visible()
