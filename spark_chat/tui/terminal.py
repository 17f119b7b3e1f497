"""The terminal's life: whether there is one to draw on, and how the app ends when it or a signal says so.

Textual 8.2.8 installs no handler for SIGTERM or SIGHUP: both kill it at once and leave the terminal in raw mode, on
the alternate screen, with the mouse and bracketed paste on.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App

LEAVE_WITHIN_S = 3.0
"""What is given to the orderly end of engine and journal; then the app ends all the same."""

ENDING = (signal.SIGTERM, signal.SIGHUP)


def refusal(environment: Mapping[str, str] = os.environ) -> str | None:
    """Why the chat cannot be drawn here and what to do; None where it can."""
    other = "`spark-chat --plain` chats line by line, without a screen."
    if not sys.stdin.isatty():
        return f"The chat reads keys, and standard input is not a terminal. {other}"
    if not sys.stdout.isatty():
        return f"The chat is a screen, and standard output is not a terminal. {other}"
    if not sys.stderr.isatty():
        return f"The chat is drawn on standard error, and that is not a terminal. {other}"
    if environment.get("TERM") in ("dumb", "unknown"):
        return f"TERM={environment['TERM']} names a terminal that cannot be drawn on. Set TERM, or: {other}"
    return None


def end_on_signals(app: App[Any], leave: Callable[[], Awaitable[object]]) -> None:
    """From inside the running app: SIGTERM and SIGHUP call `leave`, then end it with 128 + the signal's number."""
    loop = asyncio.get_running_loop()
    endings: list[asyncio.Task[None]] = []

    async def end(number: int) -> None:
        try:
            async with asyncio.timeout(LEAVE_WITHIN_S):
                await leave()
        except Exception as trouble:  # whatever hinders it, the app is to end
            app.log.error(f"leaving: {trouble!r}")
        finally:
            app.exit(return_code=128 + number)

    def on_signal(number: int) -> None:
        if not endings:
            endings.append(loop.create_task(end(number)))

    for number in ENDING:
        loop.add_signal_handler(number, on_signal, number)
