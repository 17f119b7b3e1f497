"""The smallest Textual app one can type into: what the chat's start and memory are compared with."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import TextArea


class BareApp(App[None]):
    def compose(self) -> ComposeResult:
        yield TextArea()


if __name__ == "__main__":
    BareApp().run()
