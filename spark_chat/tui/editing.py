"""What is written, in the person's own editor ($VISUAL, $EDITOR): the screen stands aside for it and comes back.

The text lies in a file of the person's own meanwhile. It comes back however the editor ended, and where the app itself
was ended with the editor open, the next start finds the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from spark_chat import locations, ordinary

FALLBACKS = ("sensible-editor", "nano", "vim", "vi")
LARGEST = 64 * 1024 * 1024
"""Bytes of a text that is taken back."""
PREFIX = "prompt-"


@dataclass(frozen=True)
class Edited:
    """`text` None: it could not be read back. `trouble`: a sentence, where the editor did not end well."""

    text: str | None
    trouble: str = ""


def editor(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The editor's command; empty where there is none."""
    for name in ("VISUAL", "EDITOR"):
        with contextlib.suppress(ValueError):
            if command := shlex.split(environment.get(name, "")):
                return command
    return next(([found] for name in FALLBACKS if (found := which(name, path=environment.get("PATH")))), [])


def written(text: str) -> Path:
    """A new file with `text`, for this user alone; its name tells whose it is. Raises OSError or NoHome."""
    folder = locations.made(locations.drafts())
    path = folder / f"{PREFIX}{os.getpid()}.md"
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    return path


def taken_back(path: Path, before: str) -> str | None:
    """What is in the file, without the newline that editors put at the end; None where it cannot be read."""
    try:
        text = ordinary.read(path, LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    if text.endswith("\n") and not before.endswith("\n"):
        text = text[:-1]
    return text


def left_behind() -> list[str]:
    """Texts of editors under which the app was ended; their files are gone then. Raises nothing."""
    found = []
    try:
        files = sorted(locations.drafts().glob(f"{PREFIX}*.md"))
    except (OSError, locations.NoHome):
        return []
    for path in files:
        owner = re.fullmatch(rf"{PREFIX}([0-9]{{1,9}})", path.stem)
        if owner and not _runs(int(owner[1])) and (text := taken_back(path, "")) is not None:
            with contextlib.suppress(OSError):
                path.unlink()
                found.append(text)
    return [text for text in found if text.strip()]


def _runs(pid: int) -> bool:
    import psutil

    return pid != os.getpid() and psutil.pid_exists(pid)


async def edit(aside: Callable[[], AbstractContextManager[None]], text: str) -> Edited:
    """Have the person edit `text`. `aside` leaves the terminal alone for so long: an app's `suspend`, which raises
    SuspendNotSupported where there is no terminal to hand over."""
    command = editor()
    if not command:
        return Edited(None, "There is no editor: set VISUAL or EDITOR, or install nano.")
    try:
        path = await asyncio.to_thread(written, text)
    except (OSError, locations.NoHome) as error:
        return Edited(None, f"The text could not be written for the editor: {error}")
    try:
        trouble = await _run(aside, [*command, str(path)])
        back = await asyncio.to_thread(taken_back, path, text)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
    if back is None:
        there = await asyncio.to_thread(os.path.lexists, path)
        kept = f" It stays in {path}." if there else ""
        trouble = f"{trouble} What the editor left could not be read; the text is as it was.{kept}".strip()
    else:
        with contextlib.suppress(OSError):
            path.unlink()
    return Edited(back, trouble)


async def _run(aside: Callable[[], AbstractContextManager[None]], command: list[str]) -> str:
    """A sentence where it did not end well. What comes from the engine meanwhile is taken in; nothing is drawn."""
    loop = asyncio.get_running_loop()
    with aside():
        # ctrl+c in an editor that leaves the terminal as it is goes to all in front of it: it is the editor's.
        loop.add_signal_handler(signal.SIGINT, lambda: None)
        try:
            process = await asyncio.create_subprocess_exec(*command)
            code = await process.wait()
        except (OSError, ValueError) as error:
            return f"The editor {command[0]} could not be started: {getattr(error, 'strerror', error)}."
        finally:
            loop.remove_signal_handler(signal.SIGINT)
    if code == 0:
        return ""
    how = f"with exit code {code}" if code > 0 else f"by signal {-code}"
    return f"The editor {command[0]} ended {how}; what it saved is here."
