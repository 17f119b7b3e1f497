"""The engine and the settings it runs on: started, restarted, and brought back to what ran last.

Three sets of settings are told apart: those in force now (file, variables and flags as they are), those the engine
was started with, and those it last came up with, which the driver remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from spark_chat.driver.snapshot import Snapshot
from spark_chat.settings.schema import Row, Settings, rows, value

if TYPE_CHECKING:
    from spark_chat.driver.counting import Counter
    from spark_chat.engine.protocol import Opening, Turn
    from spark_chat.settings.resolve import Resolved


class Driving(Protocol):
    """What the room needs of the driver."""

    @property
    def snapshot(self) -> Snapshot: ...
    @property
    def counting(self) -> Counter: ...
    async def start(self, settings: Settings) -> None: ...
    async def restart(self, settings: Settings) -> None: ...
    async def stop(self) -> None: ...
    async def close(self) -> None: ...
    def ask(
        self, id: str, messages: Sequence[Turn], settings: Settings, *, ignore_eos: bool = False,
        opening: Opening | None = None,
    ) -> None: ...  # fmt: skip
    def abort(self, id: str | None = None) -> None: ...
    def saved(self, settings: Settings) -> None: ...
    async def confirm(self) -> None: ...


@dataclass(frozen=True)
class Change:
    """A setting whose value waits for a restart."""

    row: Row
    running: Any
    saved: Any

    def __str__(self) -> str:
        return f"{self.row.key} {said(self.running)} → {said(self.saved)}"


def said(found: Any) -> str:
    """A setting's value as a person writes it."""
    if isinstance(found, bool):
        return "on" if found else "off"
    if found is None:
        return "left out"
    if found == "":
        return "empty"
    if isinstance(found, dict):
        return ", ".join(f"{name} = {said(item)}" for name, item in found.items()) or "none"
    return str(found)


def differences(running: Settings, saved: Settings) -> tuple[Change, ...]:
    """The settings that take effect at restart and differ."""
    found = []
    for row in rows():
        if row.restart and not row.key.startswith("ui."):
            before, after = value(running, row.key), value(saved, row.key)
            if (before or None) != (after or None) if row.kind == "table" else before != after:
                found.append(Change(row, before, after))
    return tuple(found)


class EngineRoom:
    """Starts the engine, and starts it anew."""

    def __init__(self, resolved: Resolved, driver: Driving) -> None:
        self.resolved, self.driver = resolved, driver
        self.started_with = resolved.settings

    @property
    def pending(self) -> tuple[Change, ...]:
        """What would change at a restart."""
        return differences(self.started_with, self.resolved.settings)

    @property
    def fallback(self) -> tuple[Change, ...]:
        """What going back to the configuration that ran last would change; empty where there is none to go back to."""
        good = self.driver.snapshot.last_good
        return differences(self.started_with, good) if good is not None else ()

    @property
    def kept_in_file(self) -> tuple[Change, ...]:
        """What stays saved after `go_back`, and will come at the next start unless it is put back."""
        good = self.driver.snapshot.last_good
        return differences(self.resolved.settings, good) if good is not None else ()

    async def start(self) -> None:
        """The engine's first start."""
        await self.driver.start(self.started_with)

    async def restart(self) -> None:
        """Start it anew, on the settings in force."""
        await self._restart(self.resolved.settings)

    async def go_back(self) -> None:
        """Start it anew on the last settings that ran; the settings file stays as it is, so what differs is pending."""
        good = self.driver.snapshot.last_good
        if good is not None:
            await self._restart(good)

    async def _restart(self, settings: Settings) -> None:
        self.started_with = settings
        self.driver.saved(self.resolved.settings)
        await self.driver.restart(settings)

    def use(self, resolved: Resolved) -> None:
        """The settings changed, here or in the file."""
        self.resolved = resolved
        self.driver.saved(resolved.settings)
