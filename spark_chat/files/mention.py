"""Files that a line names with an @, where nothing completes them: `explain @notes.txt`. Asks the disk whether they
are there; a word that names no file is text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from spark_chat.files.attachment import Attachment, attach, full

MOST = 16
"""Files of one prompt."""
_MENTION = re.compile(r"(?:^|(?<=\s))@([^\s@]+)")
_AFTER = ".,;:!?)]}'\""
"""What may end a sentence behind a name and is then none of it."""


@dataclass(frozen=True)
class Named:
    """`files`: what the text names, each once and in order. `text`: the same with their plain names."""

    text: str
    files: tuple[Attachment, ...] = ()


def named(text: str, working: Path) -> Named:
    """The files that `text` names. Blocks on the disk. Raises Refused for one that cannot go along."""
    files: dict[Path, Attachment] = {}

    def plain(found: re.Match[str]) -> str:
        for name in dict.fromkeys((found[1], found[1].rstrip(_AFTER))):
            path = full(name, working)
            if name and len(files) < MOST and _is_file(path):
                if path not in files:
                    files[path] = attach(path, working)
                return found[0][1:]
        return found[0]

    return Named(_MENTION.sub(plain, text), tuple(files.values()))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
