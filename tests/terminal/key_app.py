"""An app that writes down the keys that Textual tells it of, on the driver of the chat: for tests on a pty."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.events import Key
from textual.widgets import Static

from spark_chat.tui.tty_driver import TtyDriver


class KeyApp(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__(driver_class=TtyDriver)
        self._keys: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static("keys:", markup=False)

    def on_key(self, event: Key) -> None:
        self._keys.append(event.key)
        self.query_one(Static).update(" ".join(["keys:", *self._keys]))


if __name__ == "__main__":
    KeyApp().run()
