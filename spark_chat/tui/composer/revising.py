"""An earlier prompt that stands in the composer to be edited, and what was being written, put aside for so long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_chat.tui.composer.messages import EditEnded

if TYPE_CHECKING:
    from spark_chat.tui.composer.composer import Composer


class Revising:
    """`edits` names the prompt that is edited; "" for none. `aside`: the document that was there before."""

    def __init__(self, composer: Composer) -> None:
        self._composer = composer
        self.edits = ""
        self.aside = ""

    def begin(self, text: str, id: str) -> None:
        """Show an earlier prompt; `id` comes back with it when it is sent."""
        if not self.edits:
            self.aside = self._composer.prompt.text
        self.edits = id
        self._composer.set_text(text)
        self._composer.focus()

    def end(self) -> None:
        """Leave the earlier prompt as it is; what was made of it here comes back with the up key."""
        if self.edits:
            if not self._composer.is_empty:
                self._composer.take()
            self.put_back()

    def put_back(self) -> None:
        """What was put aside stands there again."""
        if self.edits:
            aside, self.edits, self.aside = self.aside, "", ""
            if self._composer.is_empty:
                self._composer.prompt.put(aside)
            self._composer.post_message(EditEnded())
