"""What ends a headless command: at ctrl+c what was measured is kept, and a second one ends it at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable


def on_signals(interrupt: Callable[[], None], narrate: Callable[[str], None]) -> None:
    """Call `interrupt` at ctrl+c, which is said, and at SIGTERM and SIGHUP. Needs a running event loop."""
    loop = asyncio.get_running_loop()

    def at_ctrl_c() -> None:
        loop.remove_signal_handler(signal.SIGINT)  # a second ctrl+c ends it at once
        narrate("Stopping; once more ends it at once.")
        interrupt()

    loop.add_signal_handler(signal.SIGINT, at_ctrl_c)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(ending, interrupt)
