"""Notes the names of shared memory that an engine's processes make, so that it can be taken away when they were killed.

Why: SGLang 0.5.23 is ended by SIGKILL, at a cancelled load and often after that, and then nobody removes its files and
Python's semaphores in /dev/shm; they pile up there, in memory, until the machine is started again.
How: each name goes on a line of a file in the engine's temporary folder; `engine/scratch.py` reads it at the end.
For: SGLang 0.5.23. Can go: once SGLang gives its shared memory names that die with it.
"""

from __future__ import annotations

import os
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from spark_chat.sglang_plugin import hooks, switches

TARGET = "sglang.srt.managers.load_snapshot.shm_path_for"
_MARK = "_spark_chat_notes"


def register() -> None:
    if not switches.shared_memory():
        return
    hooks.add("shared memory: loads", TARGET, "after", _after_path)
    original = resource_tracker.register
    if hasattr(original, _MARK):
        return

    def register_and_note(name: str, kind: str) -> None:
        original(name, kind)
        if kind in ("semaphore", "shared_memory"):
            note(("sem." if kind == "semaphore" else "") + name.lstrip("/"))

    setattr(register_and_note, _MARK, True)
    vars(resource_tracker)["register"] = register_and_note


def _after_path(result: Any, *_args: Any, **_kwargs: Any) -> Any:
    path = Path(str(result))
    if path.parent == Path("/dev/shm"):
        note(path.name)
    return result


def note(name: str) -> None:
    """One line. A full disk is no reason to fail: then the file stays in /dev/shm."""
    if not name or "/" in name or "\n" in name:
        return
    try:
        book = os.open(switches.shared_memory(), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    try:
        os.write(book, name.encode() + b"\n")
    except OSError:
        pass
    finally:
        os.close(book)
