"""When the interpreter looks for garbage. A full search takes some 60 ms in a process of this size, and the default
thresholds ask for one every few seconds while an answer streams: a fifth of the UI's time, and growing with it.
"""

from __future__ import annotations

import gc

THRESHOLDS = (20_000, 20, 20)
"""New objects before a search of the youngest, and how many of each before one of the next older."""


def collect_seldom() -> None:
    """To be called once the first screen is drawn: what the start made stays, and is not searched again."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
