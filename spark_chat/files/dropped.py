"""Whether a pasted text is the path of a file that was dropped on the terminal. Pure, but for a look at the disk.

Terminals paste a dropped file's path as it is, in quotes, with backslashes before spaces, or as a file:// address;
several with spaces between.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

LONGEST = 8_192
"""Characters of a paste that may be paths."""
MOST = 16


def paths(text: str) -> tuple[Path, ...]:
    """The files that `text` names, all of it; none where it is anything else. Looks whether they are there."""
    line = text.strip()
    if not line or len(line) > LONGEST or "\n" in line or line[0] not in "/~'\"f":
        return ()
    whole = _path(line)
    if whole is not None and _is_file(whole):
        return (whole,)
    try:
        words = shlex.split(line)
    except ValueError:
        return ()
    found = [_path(word) for word in words[: MOST + 1]]
    if not found or len(found) > MOST or not all(path is not None and _is_file(path) for path in found):
        return ()
    return tuple(path for path in found if path is not None)


def _path(word: str) -> Path | None:
    if word.startswith("file://"):
        address = urlsplit(word)
        return Path(unquote(address.path)) if address.netloc in ("", "localhost") else None
    path = Path(word)
    try:
        path = path.expanduser()
    except RuntimeError:
        return None
    return path if path.is_absolute() else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
