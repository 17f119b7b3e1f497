"""A text file that goes along with a prompt: read, refused by name, inlined, and looked at again before it is sent."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from spark_chat import ordinary

LARGEST = 1_000_000
"""Bytes of the largest file that is taken: more than any context holds."""

_TICKS = re.compile(r"`{3,}")
_SUFFIX = re.compile(r"[A-Za-z0-9+#-]{1,12}")


class Refused(Exception):
    """The file cannot go along; the text is a sentence that names it and says why."""


@dataclass(frozen=True)
class Attachment:
    """`name`: as it is shown and sent. `text`: what is in it. `stamp`: what changes when the file does; None for one
    that is no longer looked at."""

    path: Path
    name: str
    text: str
    stamp: tuple[int, int, int] | None

    @property
    def bytes(self) -> int:
        """Length in bytes of UTF-8."""
        return len(self.text.encode())

    @property
    def inlined(self) -> str:
        """As it stands in the message: the name, then the text in a fence that nothing in it can close."""
        longest = max((len(found[0]) for found in _TICKS.finditer(self.text)), default=2)
        fence = "`" * (longest + 1)
        suffix = self.path.suffix.removeprefix(".")
        end = "" if self.text.endswith("\n") else "\n"
        return f"{self.name}:\n{fence}{suffix if _SUFFIX.fullmatch(suffix) else ''}\n{self.text}{end}{fence}\n"

    @property
    def moved(self) -> bool:
        """Whether the file is another one by now, or gone. One stat call."""
        return self.stamp is not None and _stamp(self.path) != self.stamp


def attach(path: Path, working: Path) -> Attachment:
    """The text in the file at `path`; named from `working` where it lies below. Blocks on the disk. Raises Refused."""
    name = short(path, working)
    stamp = _stamp(path)
    try:
        raw = ordinary.read(path, LARGEST)
    except IsADirectoryError:
        raise Refused(f"{name} is a folder. Attach the files in it one by one.") from None
    except FileNotFoundError:
        raise Refused(f"There is no file {name}.") from None
    except PermissionError:
        raise Refused(f"{name} may not be read by you. Check its permissions.") from None
    except (OSError, ValueError) as error:
        raise Refused(f"{name} is not attached: {_why(path, error)}.") from None
    if b"\0" in raw:
        raise Refused(f"{name} is not attached: it is no text file (there are NUL bytes in it).")
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Refused(f"{name} is not attached: it is no UTF-8 text (byte {error.start:,} is not).") from None
    if not text:
        raise Refused(f"{name} is not attached: it is empty.")
    return Attachment(path, name, text, stamp)


def short(path: Path, working: Path) -> str:
    """A path as a person reads it: from the working folder, from home (~), else in full; one line."""
    for base, mark in ((working, ""), (Path(os.path.expanduser("~")), "~/")):  # noqa: PTH111  raises nothing
        if base != Path("/") and path.is_relative_to(base) and path != base:
            path_text = mark + str(path.relative_to(base))
            break
    else:
        path_text = str(path)
    return "".join(char if char.isprintable() else "\ufffd" for char in path_text)


def full(text: str, working: Path) -> Path:
    """The path that a person means by `text`: ~ is home, a relative one is below `working`."""
    expanded = os.path.expanduser(text)  # noqa: PTH111  a ~user that is not known stays as it is
    return Path(os.path.normpath(working / expanded))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        about = path.stat()
    except (OSError, ValueError):
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def _why(path: Path, error: Exception) -> str:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if "has more than" in reason:
        try:
            return f"it has {path.stat().st_size:,} bytes, and {LARGEST:,} are the most"
        except OSError:
            pass
    return reason[:1].lower() + reason[1:].rstrip(".")
