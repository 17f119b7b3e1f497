"""What an engine is to the worker: load once, then generate one answer at a time.

An engine knows no settings, no UI and no socket. It raises `EngineFailure` with sentences for a person; anything
else it lets out is reported as a defect. Adding an engine: one file with a class of this shape, and a row in
`table.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from spark_chat.engine.protocol import AnyEvent, Failed, FailureCode, Generate, Load, Ready

Report = Callable[[str, float | None, str], None]
"""report(stage, fraction or None, text): progress of a start."""


class EngineFailure(Exception):
    """What happened, why, and what to do, a sentence each; `facts` holds the figures."""

    def __init__(self, code: FailureCode, what: str, why: str = "", remedy: str = "", **facts: Any) -> None:
        super().__init__(what)
        self.code, self.what, self.why, self.remedy, self.facts = code, what, why, remedy, facts

    def told(self, time: float) -> Failed:
        """As the event that says so of the engine itself."""
        return Failed(code=self.code, what=self.what, why=self.why, remedy=self.remedy, facts=self.facts, time=time)


class Engine(Protocol):
    """One model, loaded. All methods are called on the worker's main thread, which runs one event loop for life.

    An engine may also have `async def warm(self, report: Report) -> None`: it runs first on that loop, before Ready
    is sent, and raises EngineFailure like `load`. And `async def count(self, command: Count) -> tuple[int, list[int]]`:
    the tokens of a prompt and of each text, exactly as `generate` would have them; it may raise anything.
    """

    def load(self, command: Load, report: Report) -> Ready:
        """Block until the engine can answer. Runs before the event loop. Raises EngineFailure."""
        ...

    def generate(self, command: Generate) -> AsyncIterator[AnyEvent]:
        """Started, then Delta..., then Done, all with `command.id`. Raises EngineFailure. Never two at once."""
        ...

    def abort(self, id: str) -> None:
        """Ask the running answer to end soon; its Done has finish "abort"."""
        ...

    def statistics(self) -> dict[str, Any]:
        """Figures of the engine's own, for the Statistics event."""
        ...

    def close(self) -> None:
        """Free what can be freed. The process ends right after."""
        ...
