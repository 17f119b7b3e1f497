"""To the clipboard, by the first way that can work, and a sentence that says which it was.

1. The desktop's own tool, where there is a desktop: it says whether it worked.
2. OSC 52, which asks the terminal, also through ssh: nothing says whether it worked. tmux and screen pass it on only
   in an envelope, and tmux only where allowed; so tmux is also given the text itself, which it sends on by itself.
3. A file, where the terminal is known not to do it or the text is too long for it.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which

TOOL_WITHIN_S = 2.0

LONGEST_OSC52 = 74_994
"""Bytes. Terminals cut what is longer than 100,000 characters of base64 (hterm, tmux and others)."""

SCREEN_CHUNK = 240
"""Characters. GNU screen drops a DCS string longer than 256."""

DEAF = ("linux", "dumb", "vt")
"""Starts of TERM of terminals that have no clipboard."""


@dataclass(frozen=True)
class Copied:
    """`way`: tool, osc52, tmux or file."""

    way: str
    sentence: str


async def copy(
    text: str, write: Callable[[str], bool] | None, file: Path, environment: Mapping[str, str] = os.environ
) -> Copied:
    """Copies `text`. `write` sends a string to the terminal and says whether there is one; None: it gets none. Raises
    OSError where all else failed and `file` cannot be written."""
    data = text.encode("utf-8", "replace")
    size = f"{len(text):,} characters"
    for tool in copiers(environment):
        if await _run(tool, data) is not None:
            return Copied("tool", f"Copied {size} ({tool[0]}).")
    reason = _why_not(data, environment)
    if not reason:
        in_tmux = "TMUX" in environment and await _run(["tmux", "load-buffer", "-w", "-"], data) is not None
        if write is None:
            if in_tmux:
                return Copied("tmux", f"Put {size} in tmux's buffer.")
            reason = "no clipboard tool works here"
        elif write(osc52(data, environment)):
            also = " and put it in tmux's buffer" if in_tmux else ""
            return Copied(
                "osc52", f"Sent {size} to the terminal's clipboard{also}; terminals do not say if they took it."
            )
        else:
            reason = "there is no terminal"
    await asyncio.to_thread(_write_file, file, data)
    return Copied("file", f"Wrote {size} to {file}: {reason}.")


async def paste(environment: Mapping[str, str] = os.environ) -> str | None:
    """What the desktop's clipboard holds, or tmux's buffer; None where neither can be read."""
    for tool in pasters(environment):
        data = await _run(tool, b"")
        if data is not None:
            return data.decode("utf-8", "replace")
    return None


def copiers(environment: Mapping[str, str]) -> list[list[str]]:
    """Tools that reach the clipboard of the person's own desktop, those that are installed, best first."""
    return _present(
        environment,
        wayland=[["wl-copy"]],
        x11=[["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]],
        mac=[["pbcopy"]],
    )


def pasters(environment: Mapping[str, str]) -> list[list[str]]:
    tools = _present(
        environment,
        wayland=[["wl-paste", "--no-newline"]],
        x11=[["xclip", "-selection", "clipboard", "-out"], ["xsel", "--clipboard", "--output"]],
        mac=[["pbpaste"]],
    )
    return [*tools, *([["tmux", "save-buffer", "-"]] if "TMUX" in environment and which("tmux") else [])]


def osc52(data: bytes, environment: Mapping[str, str]) -> str:
    """The control sequence, in the envelope that tmux or screen asks for."""
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    if "TMUX" in environment:
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if "STY" in environment:
        pieces = [sequence[at : at + SCREEN_CHUNK] for at in range(0, len(sequence), SCREEN_CHUNK)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return sequence


def _why_not(data: bytes, environment: Mapping[str, str]) -> str:
    term = environment.get("TERM", "")
    if term.startswith(DEAF) or environment.get("TERM_PROGRAM") == "Apple_Terminal":
        return "no clipboard tool works here, and this terminal has no clipboard of its own"
    if len(data) > LONGEST_OSC52:
        return "no clipboard tool works here, and terminals take no text this long"
    return ""


def _present(
    environment: Mapping[str, str],
    wayland: Sequence[list[str]],
    x11: Sequence[list[str]],
    mac: Sequence[list[str]],
) -> list[list[str]]:
    remote = "SSH_CONNECTION" in environment or "SSH_TTY" in environment
    display = environment.get("DISPLAY", "")
    tools: list[list[str]] = []
    if environment.get("WAYLAND_DISPLAY") and not remote:
        tools += wayland
    if display and (not remote or display.startswith("localhost:")):  # else it is a desktop that nobody looks at
        tools += x11
    if sys.platform == "darwin" and not remote:
        tools += mac
    path = environment.get("PATH")
    return [tool for tool in tools if which(tool[0], path=path)]


async def _run(command: Sequence[str], data: bytes) -> bytes | None:
    """The command's output; None where it failed, is missing or took too long."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE if not data else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(TOOL_WITHIN_S):
            output, _ = await process.communicate(data)
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    return (output or b"") if process.returncode == 0 else None


def _write_file(file: Path, data: bytes) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
