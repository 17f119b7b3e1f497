"""What one can do with a message that was chosen: the keys, what they mean, and which of them mean anything now. Pure.

The bindings, the hints and the help are made from this one table.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH_OF_ALL = 100


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
    MessageKey(tuple("123456789"), "1", "code", "code", "copy its first, second, ... code block"),
    MessageKey(("e",), "e", "edit", "edit", "edit the prompt and ask it there; the old one stays as a version"),
    MessageKey(("r",), "r", "ask again", "again", "ask the prompt again; the old answer stays as a version"),
    MessageKey(("n",), "n", "continue", "go_on", "have an answer that was cut off go on"),
    MessageKey(("left", "right"), "←→", "versions", "step", "to the version before and behind"),
    MessageKey(("o",), "o", "open", "open", "open what is folded, or fold it: a long prompt, reasoning"),
    MessageKey(("f",), "f", "fork", "fork", "a conversation of its own that goes on from here"),
    MessageKey(("m",), "m", "Markdown", "markdown", "copy prompt, answer and numbers as Markdown"),
    MessageKey(("k",), "k", "check", "check", "run the prompt several times and see what it costs"),
)
MOVING = (("alt+up", "up"), ("alt+down", "down"))
LEAVING = "escape"


def binding_keys(deed: str) -> list[tuple[str, int]]:
    """The keys of a deed, each with its number for those that count or step."""
    row = next(row for row in KEYS if row.deed == deed)
    if deed == "step":
        return [("left", -1), ("right", 1)]
    return [(key, number) for number, key in enumerate(row.keys, 1)]


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
