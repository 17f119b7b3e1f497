"""What escape, ctrl+c, ctrl+d and ctrl+q mean at a moment. Pure: keys and a clock in, a wish out.

| key    | text selected | answering | idle                                   |
|--------|---------------|-----------|----------------------------------------|
| ctrl+c | copy          | stop      | first warn, again within 2 s: quit     |
| escape | -             | stop      | nothing                                |
| ctrl+d | -             | quit at an empty prompt, else nothing (deletes) ||
| ctrl+q | quit          | quit      | quit                                   |

A ctrl+c that stopped an answer never counts as the first of two: mashing it mid-answer must not end the chat.
After a copy the caller clears the selection, so that the next ctrl+c stops.
"""

from __future__ import annotations

from enum import Enum

AGAIN_WITHIN_S = 2.0
HINT = "Press ctrl+c again to quit."
HINT_WRITTEN = "Press ctrl+c again to quit; what is written stays. ctrl+u clears the line."


class Wish(Enum):
    NOTHING = "nothing"
    COPY = "copy"
    STOP = "stop"
    WARN = "warn"
    QUIT = "quit"


class Quitting:
    """Give every key that reaches the screen to `press`: another key between two ctrl+c disarms the first.
    What is taken before it gets there, a letter that is written or a paste, goes to `disarm`."""

    def __init__(self) -> None:
        self._armed_at: float | None = None

    def disarm(self) -> None:
        """The person went on with something else."""
        self._armed_at = None

    def press(self, key: str, *, answering: bool, empty: bool, selected: bool, now: float) -> Wish:
        """`empty`: nothing is in the composer. `selected`: text is selected anywhere. `now`: monotonic seconds."""
        armed_at, self._armed_at = self._armed_at, None
        if key == "ctrl+q":
            return Wish.QUIT
        if key == "ctrl+d":
            return Wish.QUIT if empty else Wish.NOTHING
        if key == "escape":
            return Wish.STOP if answering else Wish.NOTHING
        if key != "ctrl+c":
            return Wish.NOTHING
        if selected:
            return Wish.COPY
        if answering:
            return Wish.STOP
        if armed_at is not None and now - armed_at <= AGAIN_WITHIN_S:
            return Wish.QUIT
        self._armed_at = now
        return Wish.WARN
