"""Completion in the composer: which list follows what is written, and what taking a row of it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_chat.tui.composer.completion import Completion
from spark_chat.tui.composer.suggest import Arguments, Suggestion, of_commands

if TYPE_CHECKING:
    from spark_chat.tui.composer.attaching import Attaching
    from spark_chat.tui.composer.composer import Composer


class Completing:
    """Of one composer."""

    def __init__(self, composer: Composer, attaching: Attaching) -> None:
        self._composer, self._attaching = composer, attaching
        self.arguments: Arguments = lambda command: ()
        """What a command may be given."""

    def follow(self, typed: str) -> None:
        """What is written changed."""
        found = of_commands(typed, self.arguments)
        wanted = None if found else self._attaching.mentioned()
        if wanted is not None:
            self._attaching.complete(wanted)
        else:
            self._composer.query_one(Completion).follow(typed, found)

    def take(self, chosen: Suggestion) -> None:
        """What is chosen in the list takes the place of what was written of it."""
        prompt, completion = self._composer.prompt, self._composer.query_one(Completion)
        row, column = prompt.cursor_location
        start = (row, chosen.start)
        if chosen.path is not None:
            written = prompt.document.get_text_range(start, (row, column))
            completion.dismiss(prompt.text)
            self._attaching.take(chosen.path, start, (row, column), written)
            return
        prompt.put_in(chosen.text, start, (row, column))
        if not chosen.text.endswith("/"):
            completion.dismiss(prompt.text)
