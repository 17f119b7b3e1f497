"""Where the driver gets its model from: one that is on this machine, or a download.

The port that `Driver` works against; tests put a fake behind it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from spark_chat.engine.protocol import Progress
from spark_chat.machine import Machine
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings

ASK_FROM = 200_000_000
"""Downloads of this many bytes and more wait for the person's yes."""

Report = Callable[[float | None, str], None]
"""report(fraction or None, text): progress of a download. Called on the event loop's thread."""


@dataclass(frozen=True)
class Download:
    """A model that is not here yet. `fetch` raises RecipeProblem with the way out; it may be cancelled. `note`: why it
    is this one, where nobody named it."""

    name: str
    size: int
    fetch: Callable[[Report], Awaitable[ModelRef]]
    note: str = ""


def waits(download: Download) -> Progress:
    """What is told while `download` waits for a yes."""
    text = f"{download.name} is {download.size / 1e9:.1f} GB to download: waiting for your yes"
    return Progress(stage="ask", fraction=None, text=text, time=time.monotonic())


@dataclass(frozen=True)
class Found:
    """A model that is here; `note` says why it was this one, where nobody named it."""

    model: ModelRef
    note: str = ""


class Models(Protocol):
    """Finds models."""

    async def look(self, settings: Settings, machine: Machine) -> Found | Download:
        """The model that `settings` mean on `machine`. Raises RecipeProblem where there is none."""
        ...
