"""The keys of the list of conversations: its hints and the help are made from this one table. Pure."""

from __future__ import annotations

KEYS = (
    ("enter", "open", "open it where it was left, or at the message that was found"),
    ("esc", "back", "end the search; back to the chat"),
    ("ctrl+n", "new", "a new conversation"),
    ("ctrl+r", "rename", "give it a name; an empty one is the first prompt's again"),
    ("ctrl+t", "pin", "pin it to the top, or no longer"),
    ("ctrl+d", "delete", "delete it"),
    ("ctrl+z", "undo", "bring back the one that was deleted last, as long as this spark-chat runs"),
    ("↑↓ pgup pgdn", "choose", "choose another one; ctrl+home the first, ctrl+end the last"),
)
"""Key, its word in a hint, its help."""
NAMING = (("enter", "keep this name; an empty one is the first prompt's"), ("esc", "leave it as it was"))
SEARCHING = (
    "what is typed",
    "is searched in all prompts, answers and names; every word must be there, its beginning is enough; words in quotes "
    "must follow each other",
)


def help_rows() -> list[tuple[str, str]]:
    """Keys, and what they do."""
    return [SEARCHING, *((key, about) for key, _, about in KEYS)]


def hint(naming: bool, width: int, lines: int) -> str:
    """The keys and their words that there is room for in `lines` lines of `width` cells."""
    found = [""]
    for key, word in NAMING if naming else [(key, word) for key, word, _ in KEYS]:
        one = f"{key} {word}"
        if found[-1] and len(found[-1]) + 3 + len(one) > width:
            if len(found) == lines:
                break
            found.append("")
        if len(one) <= width:
            found[-1] += f"{' · ' if found[-1] else ''}{one}"
    return "\n".join(line for line in found if line)
