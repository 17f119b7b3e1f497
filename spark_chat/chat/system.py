"""What /system means, in words and in deed: what is said to the model before one conversation. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.chat.session import Session
    from spark_chat.prompts.library import Library

NONE, AUTO = "none", "auto"
WORDS = ((NONE, "Nothing is said before this conversation."), (AUTO, "As the settings say (sampling.system_prompt)."))
"""What may be written beside a name of the library."""


def choose(session: Session, name: str, library: Library) -> str:
    """Do what was written behind /system; the sentence that answers it."""
    if name == AUTO:
        session.say_first(None)
    elif name == NONE:
        session.say_first("")
    else:
        found = library.systems.get(name)
        if found is None:
            return library.missing("system", name)
        session.say_first(found.text, name)
    return f"{state(session)} It holds from the next prompt."


def state(session: Session) -> str:
    """What is said before the conversation at hand, in a sentence."""
    conversation = session.conversation
    if conversation.system_prompt is None:
        own = session.settings.sampling.system_prompt.strip()
        return (
            "The system prompt is that of the settings."
            if own
            else "There is no system prompt: the settings have none."
        )
    if not conversation.system_prompt:
        return "There is no system prompt in this conversation."
    return f"The system prompt of this conversation is {conversation.system_name or 'one of its own'}."
