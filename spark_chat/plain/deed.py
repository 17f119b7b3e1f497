"""What the deeds of the plain chat have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.plain.chat import PlainChat


class Deed:
    """Some methods `action_…`, each given what stood behind its command."""

    def __init__(self, chat: PlainChat) -> None:
        self._chat = chat

    def _say(self, sentence: str) -> None:
        self._chat.output.say(sentence)

    def _fail(self, sentence: str) -> None:
        """Say why something that was given goes nowhere; in a pipe the exit code tells too."""
        self._say(sentence)
        self._chat.view.failed = True
