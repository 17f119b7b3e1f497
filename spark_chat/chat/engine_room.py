"""The engine and the settings it runs on: started, restarted, and brought back to what ran last.

Three sets of settings are told apart: those in force now (file, variables and flags as they are), those the engine
was started with, and those it last came up with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.engine.protocol import Turn
from spark_chat.settings.schema import Row, Settings, rows, value

if TYPE_CHECKING:
    from spark_chat.settings.resolve import Resolved


class Driving(Protocol):
    """What the room needs of the driver."""

    @property
    def snapshot(self) -> Snapshot: ...
    async def start(self, settings: Settings) -> None: ...
    async def restart(self, settings: Settings) -> None: ...
    async def close(self) -> None: ...
    def ask(self, id: str, messages: list[Turn], settings: Settings) -> None: ...
    def abort(self, id: str | None = None) -> None: ...
    def saved(self, settings: Settings) -> None: ...
    def confirm(self) -> None: ...


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
    """`last_ran`: settings of the last start that came up, of this run or an earlier one."""

    def __init__(
        self,
        resolved: Resolved,
        driver: Driving,
        last_ran: Settings | None = None,
        note_ran: Callable[[Settings], None] = lambda settings: None,
    ) -> None:
        self.resolved, self.driver, self.last_ran, self._note_ran = resolved, driver, last_ran, note_ran
        self.started_with = resolved.settings
        self._noted = False

    @property
    def pending(self) -> tuple[Change, ...]:
        """What would change at a restart."""
        return differences(self.started_with, self.resolved.settings)

    @property
    def fallback(self) -> tuple[Change, ...]:
        """What going back to the last configuration that ran would change; empty where there is none to go back to."""
        return differences(self.started_with, self.last_ran) if self.last_ran else ()

    async def start(self) -> None:
        """The engine's first start."""
        await self.driver.start(self._starting(self.resolved.settings))

    async def restart(self) -> None:
        """Start it anew, on the settings in force."""
        await self.driver.restart(self._starting(self.resolved.settings))
        self.driver.saved(self.resolved.settings)

    async def go_back(self) -> None:
        """Start it anew on the last settings that ran; the settings file stays as it is."""
        if self.last_ran is None:
            return
        await self.driver.restart(self._starting(self.last_ran))
        self.driver.saved(self.resolved.settings)

    def _starting(self, settings: Settings) -> Settings:
        self.started_with, self._noted = settings, False
        return settings

    def use(self, resolved: Resolved) -> None:
        """The settings changed, here or in the file."""
        self.resolved = resolved
        self.driver.saved(resolved.settings)

    def changed(self, snapshot: Snapshot) -> None:
        """Remember a configuration that came up."""
        if snapshot.phase is Phase.READY and not self._noted:
            self._noted = True
            self.last_ran = self.started_with
            self._note_ran(self.started_with)
