"""A small app around the composer, for tests on a pty: `python -m tests.terminal.host_app LOG`.

Every message of the composer is appended to LOG as one JSON line.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from threading import Event

from textual.app import ComposeResult
from textual.widgets import Static

from spark_chat.tui import tty_driver
from spark_chat.tui.composer import Composer
from spark_chat.tui.copying import CopyingApp
from spark_chat.tui.terminal import end_on_signals, refusal
from spark_chat.tui.tty_driver import TtyDriver


class HostApp(CopyingApp[None]):
    CSS = "#said { height: 1fr; }"

    def __init__(self, log: Path | None = None, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.log_file = log
        self.heard: list[dict[str, object]] = []

    def compose(self) -> ComposeResult:
        yield Static("ready", id="said", markup=False)
        yield Composer()

    async def leave(self) -> None:
        self.note(left=True)
        if "--hang" in sys.argv:
            Event().wait()

    def on_mount(self) -> None:
        end_on_signals(self, self.leave)
        self.query_one(Composer).focus()

    def note(self, **what: object) -> None:
        self.heard.append(what)
        if self.log_file is not None:
            with self.log_file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(what) + "\n")

    def on_composer_submitted(self, event: Composer.Submitted) -> None:
        data = event.text.encode("utf-8")
        self.note(sent=event.text if len(data) < 4_000 else None, size=len(data), sha=hashlib.sha256(data).hexdigest())
        self.query_one("#said", Static).update(f"sent {len(data)} bytes")

    def on_composer_command_given(self, event: Composer.CommandGiven) -> None:
        self.note(command=event.name, argument=event.argument)

    def on_composer_refused(self, event: Composer.Refused) -> None:
        self.note(refused=event.sentence)

    def on_composer_draft_changed(self, event: Composer.DraftChanged) -> None:
        self.note(draft=len(event.text))

    def on_composer_copy_wanted(self, event: Composer.CopyWanted) -> None:
        self.note(copy=event.text)
        self.copy_to_clipboard(event.text)


def main() -> None:
    if sentence := refusal():
        print(sentence, file=sys.stderr)
        sys.exit(2)
    if "--hang" in sys.argv:
        tty_driver.LOST_FOR_S = 0.3
    app = HostApp(Path(sys.argv[1]), driver_class=TtyDriver)
    app.run(mouse="--no-mouse" not in sys.argv)
    sys.exit(app.return_code)


if __name__ == "__main__":
    main()
