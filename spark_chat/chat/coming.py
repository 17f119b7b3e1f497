"""What the model would be sent if the prompt that is being written were sent now. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.chat.conversation import Conversation
    from spark_chat.engine.protocol import Turn


def turns_with(conversation: Conversation, text: str, system_prompt: str = "") -> list[Turn]:
    """The conversation's turns as they go along with a further prompt, and that prompt."""
    from spark_chat.engine.protocol import Turn

    if not conversation.exchanges:
        turns = [Turn(role="system", content=system_prompt)] if system_prompt.strip() else []
    else:
        last = conversation.exchanges[-1]
        turns = conversation.turns(last, system_prompt)
        if str(last.answer).strip():
            turns.append(Turn(role="assistant", content=str(last.answer)))
        else:
            turns.pop()  # a prompt without an answer goes along with no other
    return [*turns, Turn(role="user", content=text)]
