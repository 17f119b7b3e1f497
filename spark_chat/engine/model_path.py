"""A model's path on its way to an engine. A name on Linux is bytes, and Python holds those that are no UTF-8 as lone
surrogates, which neither JSON nor llama.cpp can take."""

from __future__ import annotations

import os
from pathlib import Path

from spark_chat.engine.interface import EngineFailure

SCHEME = "file://"


def on_the_wire(path: str) -> str:
    """`path` as a command carries it: itself, or a file URI where it is no UTF-8."""
    return path if _is_text(path) else Path(path).absolute().as_uri()


def off_the_wire(path: str) -> str:
    """What `on_the_wire` was given."""
    if not path.startswith(SCHEME):
        return path
    from urllib.parse import unquote_to_bytes

    return os.fsdecode(unquote_to_bytes(path.removeprefix(SCHEME)))


def for_llama(path: str) -> str:
    """A name of the file at `path` that llama.cpp can be told: itself, or that of a descriptor which stays open.

    Raises EngineFailure for a model in several files, which are found by the first one's name; and OSError."""
    if _is_text(path):
        return path
    if Path(path).is_file() and "-of-" in Path(path).name:
        raise EngineFailure(
            "load",
            "A model in several files whose name is not UTF-8 can't be loaded.",
            "llama.cpp finds the other files by the first one's name, and takes only names in UTF-8.",
            "Rename the files or their folder, or make a link to the folder with a plain name.",
        )
    return f"/proc/self/fd/{os.open(path, os.O_RDONLY)}"


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
