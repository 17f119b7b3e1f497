"""An app whose copies arrive, and that says by which way: Textual sends a bare OSC 52 and hopes."""

from __future__ import annotations

from typing import TypeVar

from textual.app import App

Result = TypeVar("Result")


class CopyingApp(App[Result]):
    """What any widget of it copies goes through `clipboard.copy`."""

    _last_copied = ""

    @property
    def clipboard(self) -> str:
        """What was copied last in this app."""
        return self._last_copied

    def copy_to_clipboard(self, text: str) -> None:
        """Tells by a notification which way it went."""
        self._last_copied = text
        self.run_worker(self._copy(text), name="copy", group="copy")

    async def _copy(self, text: str) -> None:
        from spark_chat import locations
        from spark_chat.tui.clipboard import copy
        from spark_chat.tui.tty_driver import write_to_terminal

        try:
            done = await copy(text, write_to_terminal, locations.state() / "copied.txt")
        except (OSError, locations.NoHome) as trouble:
            self.notify(f"Nothing was copied: {trouble}", severity="error", markup=False)
        else:
            self.notify(done.sentence, markup=False)
