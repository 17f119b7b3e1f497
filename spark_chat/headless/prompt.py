"""The one prompt of a check: from a file, from stdin, or the one that ships. Taken byte for byte."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import BinaryIO

from spark_chat.engine.protocol import MAX_FRAME

BUILT_IN = "Explain in one paragraph how a hash table finds a key, then list three things that make it slow."
"""Asked where no prompt is given."""
LONGEST = MAX_FRAME // 6 - 65_536
"""Bytes that fit a frame of the protocol whatever they are: one escaped byte takes six."""


class BadPrompt(Exception):
    """Why there is no prompt to send and what to do, in a sentence."""


def read(source: str | None, stdin: BinaryIO | None = None) -> str:
    """The prompt in the file `source`, of stdin for "-", or the built-in one for None. Raises BadPrompt."""
    if source is None:
        return BUILT_IN
    name = "stdin" if source == "-" else source
    data = _stdin(stdin) if source == "-" else _file(Path(source))
    if len(data) > LONGEST:
        raise BadPrompt(
            f"The prompt in {name} has more than {LONGEST:,} bytes, which is more than one message takes. Give less."
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadPrompt(
            f"{name} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start:,}. "
            "Convert it first, such as with iconv -t utf-8."
        ) from None
    if not text.strip():
        raise BadPrompt(f"The prompt in {name} is empty. Give some text.")
    return text


def _stdin(stdin: BinaryIO | None) -> bytes:
    if stdin is None:
        if sys.stdin is None:
            raise BadPrompt("stdin is closed. Give the prompt in a file.")
        stdin = sys.stdin.buffer
    return stdin.read(LONGEST + 1)


def _file(path: Path) -> bytes:
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            raise BadPrompt(f"{path} is a folder. Name a file with one prompt.")
        with path.open("rb") as file:
            return file.read(LONGEST + 1)
    except ValueError:
        raise BadPrompt("A file's name cannot have a NUL character in it.") from None
    except OSError as error:
        raise BadPrompt(f"{path} cannot be read: {error.strerror or error}.") from None
