"""What Textual makes of bytes on a real pseudo terminal, through the chat's own driver."""

from __future__ import annotations

import pytest

from tests.terminal.pty_app import PtyApp


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (b"\x1bCo", "escape C o"),  # Escape and then text in one read: not alt and a letter
        (b"\x1b[A", "up"),
        (b"\x1b[27uCo", "escape C o"),
    ],
)
def test_an_escape_is_a_key_and_what_follows_are_others(home, typed, keys):
    with PtyApp.python("tests.terminal.key_app") as app:
        app.wait_for("keys:")
        app.send(typed + b"x")
        app.wait_for(f"keys: {keys} x")
