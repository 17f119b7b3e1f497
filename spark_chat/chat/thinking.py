"""What /think means, in words and in deed: whether the model reasons in a conversation. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.chat.session import Session

WORDS: dict[str, bool | None] = {"on": True, "off": False, "auto": None}
"""What may be written; the last leaves it to the settings."""


def think(session: Session, argument: str) -> str:
    """Do what was written behind /think; the sentence that answers it. Without a word: the other of on and off."""
    word = argument.strip().lower()
    if word and word not in WORDS:
        return "It is /think on, /think off, or /think auto, which is as the settings say."
    session.think(WORDS[word] if word else not session.thinking)
    deed = "reasons before it answers" if session.thinking else "answers without reasoning"
    own = "as the settings say" if session.conversation.thinking is None else "in this conversation"
    return f"The model {deed}, {own}, from the next prompt."
