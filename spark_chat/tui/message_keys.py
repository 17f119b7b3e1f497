"""What one can do with a message that was chosen: the keys, what they mean, and which of them mean anything now. Pure.

The keys, the hints and the help are made from this one table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """A message, as far as its keys depend on it. `versions`: of the prompt, or of the answer."""

    answer: bool
    versions: int = 1
    code_blocks: int = 0
    folds: bool = False
    cut: bool = False


@dataclass(frozen=True)
class MessageKey:
    """`shown`: how a hint writes the keys. `word`: what they do, in a hint. `deed`: method `do_<deed>`."""

    keys: tuple[str, ...]
    shown: str
    word: str
    deed: str
    help: str

    def fits(self, about: About) -> bool:
        """Whether it would do anything to such a message."""
        if self.deed == "step":
            return about.versions > 1
        if self.deed == "code":
            return about.code_blocks > 0
        if self.deed == "open":
            return about.folds
        return about.cut if self.deed == "go_on" else True


KEYS = (
    MessageKey(("c",), "c", "copy", "copy", "copy its text"),
    MessageKey(("n",), "n", "continue", "go_on", "have an answer that was cut off go on"),
    MessageKey(("left", "right"), "←→", "versions", "step", "to the version before and behind"),
    MessageKey(tuple("123456789"), "1", "code", "code", "copy its first, second, ... code block"),
    MessageKey(("e",), "e", "edit", "edit", "edit the prompt and ask it there; the old one stays as a version"),
    MessageKey(("r",), "r", "ask again", "again", "ask the prompt again; the old answer stays as a version"),
    MessageKey(("o",), "o", "open", "open", "open what is folded, or fold it: a long prompt, reasoning"),
    MessageKey(("f",), "f", "fork", "fork", "a conversation of its own that goes on from here"),
    MessageKey(("m",), "m", "Markdown", "markdown", "copy prompt, answer and numbers as Markdown"),
    MessageKey(("k",), "k", "check", "check", "run the prompt several times and see what it costs"),
)
MOVING = {"up": -1, "alt+down": 1, "down": 1}
"""Choose another message; the key that chose the first one goes on upwards too."""
LEAVING = "escape"


def deed_of(key: str) -> tuple[str, int] | None:
    """What a key does while a message is chosen, and its number, for those that count or step; None for nothing."""
    if key in MOVING:
        return "move", MOVING[key]
    if key == LEAVING:
        return "leave", 0
    row = next((row for row in KEYS if key in row.keys), None)
    if row is None:
        return None
    number = row.keys.index(key) + 1
    return row.deed, (-1 if key == "left" else 1) if row.deed == "step" else number


def hints(about: About, width: int) -> list[tuple[str, str]]:
    """(keys, what they do) for a line of `width` cells: those that fit the message, as many as there is room for, and
    always the way back."""
    back = ("esc", "back")
    found: list[tuple[str, str]] = []
    left = width - len("esc back")
    for row in KEYS:
        if not row.fits(about):
            continue
        shown = f"1-{min(9, about.code_blocks)}" if row.deed == "code" and about.code_blocks > 1 else row.shown
        left -= len(shown) + 1 + len(row.word) + 3
        if left >= 0:
            found.append((shown, row.word))
    return [*found, back]


def help_rows() -> list[tuple[str, str]]:
    """(keys, what they do) of all, for the help."""
    moving = ("up, down", "to the one above, below; any other key than these ends the choice, and is not lost")
    rows = [("1 to 9" if row.deed == "code" else ", ".join(row.keys), row.help) for row in KEYS]
    return [moving, *rows]
