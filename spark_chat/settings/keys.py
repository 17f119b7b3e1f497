"""Which keys do what, as a person may set them: the actions that have a key of their own, and what a key is. Pure.

Every command of the app's table of commands is an action here, by its name with _ for -, and so is scrolling. Escape,
ctrl+c, ctrl+d, ctrl+q and what writes text stay what they are: with them one can always stop, leave and write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

SECTION = "keys"

ACTIONS: dict[str, str] = {
    "help": "f1",
    "settings": "f2",
    "palette": "ctrl+p",
    "new": "ctrl+n",
    "resume": "f3",
    "title": "",
    "message": "alt+up",
    "edit": "",
    "again": "",
    "more": "",
    "fork": "",
    "restart": "f5",
    "go": "ctrl+g",
    "fold": "ctrl+t",
    "copy": "ctrl+o",
    "export": "",
    "clear_queue": "",
    "think": "",
    "prompt": "",
    "system": "",
    "save_prompt": "",
    "editor": "f4",
    "attach": "",
    "check": "f6",
    "compare": "f7",
    "chart": "f8",
    "panel": "f12",
    "log": "f9",
    "theme": "",
    "setup": "",
    "tour": "",
    "scroll_page_up": "pageup",
    "scroll_page_down": "pagedown",
    "scroll_up": "shift+up",
    "scroll_down": "shift+down",
    "scroll_start": "ctrl+home",
    "scroll_newest": "ctrl+end",
    "scroll_end": "end",
}
"""Action -> its keys as the app has them, with a comma between two."""

FIXED = frozenset(
    {
        "enter", "tab", "shift+tab", "space", "backspace", "delete", "escape", "up", "down", "left", "right", "home",
        "ctrl+c", "ctrl+d", "ctrl+q", "ctrl+z",
        "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m",  # what terminals send for backspace, tab, newline and enter
    }
)  # fmt: skip
ALLOWED = "keys such as f9, ctrl+x or alt+x, with a comma between two; empty for none"

_NAMED = "f(?:[1-9]|1[0-9]|2[0-4])|pageup|pagedown|insert|end"
_MOVED = "up|down|left|right|home|delete|enter|space|backspace|tab"
_WITH = r"(?:ctrl\+|alt\+|shift\+|super\+)"
_KEY = rf"{_WITH}*(?:{_NAMED})|{_WITH}+(?:{_MOVED})|(?=.*(?:ctrl|alt|super)\+){_WITH}+[a-z0-9]"


def split(text: str) -> tuple[str, ...]:
    """The keys in a value, as Textual names them."""
    return tuple(key for part in text.split(",") if (key := part.strip().lower()))


def wrong(text: str) -> str:
    """What is wrong with a value, as the end of a sentence: `x is no key`; empty where nothing is."""
    for key in split(text):
        if key in FIXED:
            return f"and {key} is kept for writing, stopping and leaving"
        if not re.fullmatch(_KEY, key):
            return f"and {key} is no key that can be given away"
    return ""


@dataclass(frozen=True)
class Clash:
    """`action` was given `key`, which is that of `other`."""

    action: str
    other: str
    key: str


def clashes(chosen: Mapping[str, str]) -> Iterator[Clash]:
    """Where the keys that a person chose, by action, are given twice. The later one of two is blamed, and one that was
    chosen before one that stayed as it was."""
    owners = {key: action for action, keys in ACTIONS.items() if action not in chosen for key in split(keys)}
    for action, keys in chosen.items():
        for key in split(keys):
            if owners.setdefault(key, action) != action:
                yield Clash(action, owners[key], key)


def about(action: str) -> str:
    """What the action is, for the settings."""
    if action.startswith("scroll_"):
        return f"Scroll the conversation: {action.removeprefix('scroll_').replace('_', ' ')}."
    return "All commands, to search." if action == "palette" else f"The same as /{action.replace('_', '-')}."
