"""What widgets and screens tell each other, where it is more than one widget's own affair."""

from __future__ import annotations

from textual.message import Message


class RestartWanted(Message):
    """The engine is to be started anew, on the settings in force."""


class SettingChanged(Message):
    """The person set `key` to what `text` says, or back to its default where `text` is None."""

    def __init__(self, key: str, text: str | None) -> None:
        super().__init__()
        self.key, self.text = key, text


class SettingsMoved(Message):
    """The settings in force are others now: by the settings screen, or in the file by another program."""

    def __init__(self, elsewhere: bool) -> None:
        super().__init__()
        self.elsewhere = elsewhere
