"""Keeps a load from filling the page cache where the GPU shares the machine's memory: there CUDA counts every cached
page as used, and loads have died of it at 73 and 97 % of the weights.

A thread gives the pages of the model's own files back again and again while they are read. Pages that are mapped at
that moment stay, so the file under way is read undisturbed; those of the files before it go. SGLang 0.5.23's own
weight_loader_drop_cache_after_load leaves nearly all of them: its loader still holds a tensor, and with it the whole
file's map, when it drops the file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from spark_chat.engine.interface import Report
from spark_chat.memory import meminfo, page_cache
from spark_chat.recipe.need import weight_files

SWEEP_S = 0.5
"""Between two sweeps, seconds. At 0.2 a load measured no slower than without any."""
STAGES = ("weights", "draft")
"""Stages in which files are read; MemFree is told in them."""


class Eviction:
    """From its making to `close`. Hand `report` on in place of the one that was given."""

    def __init__(
        self, folder: Path, report: Report, free: Callable[[], int | None] | None = None, pause: float = SWEEP_S
    ) -> None:
        self._report, self._free, self._pause = report, free or _free, pause
        try:
            self._files = weight_files(folder)
        except OSError:
            self._files = []  # the engine will say what is wrong with them
        self._over = threading.Event()
        page_cache.evict(self._files)
        self._thread = threading.Thread(target=self._sweep, name="eviction", daemon=True)
        self._thread.start()

    def report(self, stage: str, fraction: float | None, text: str) -> None:
        """As the report that was given, with MemFree beside what is read."""
        free = self._free() if stage in STAGES else None
        self._report(stage, fraction, text if free is None else f"{text}; {free / 1024**3:.1f} GiB free for CUDA")

    def _sweep(self) -> None:
        while not self._over.wait(self._pause):
            page_cache.evict(self._files)

    def close(self) -> None:
        """After a last sweep."""
        self._over.set()
        self._thread.join()
        page_cache.evict(self._files)


def _free() -> int | None:
    memory = meminfo.read()
    return None if memory is None else memory.free
