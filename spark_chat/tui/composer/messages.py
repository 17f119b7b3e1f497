"""What the composer tells: what the person means, and what became of what is written."""

from __future__ import annotations

from textual.message import Message


class Submitted(Message, namespace="composer"):
    """`text` is to be sent, byte for byte; never empty or blank. `edits`: in the place of what `edit` was given."""

    def __init__(self, text: str, edits: str = "") -> None:
        super().__init__()
        self.text, self.edits = text, edits


class CommandGiven(Message, namespace="composer"):
    """`name` is that of a `commands.COMMANDS` entry; the prompt is empty again."""

    def __init__(self, name: str, argument: str) -> None:
        super().__init__()
        self.name = name
        self.argument = argument


class Refused(Message, namespace="composer"):
    """Nothing was sent and the prompt is as it was; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence


class EditEnded(Message, namespace="composer"):
    """An earlier prompt that stood here to be edited was sent, or left as it is."""


class DraftChanged(Message, namespace="composer"):
    """What would be sent now; told once for the changes of `DRAFT_AFTER_S`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class CopyWanted(Message, namespace="composer"):
    """`text` is to go to the clipboard."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Written(Message, namespace="composer"):
    """What is written changed; told at once, for every key."""
