"""A start that was refused for want of memory."""

from __future__ import annotations

from spark_chat.engine.interface import EngineFailure


class TooLittleMemory(EngineFailure):
    """What there is and what is needed, why so much, what to do; figures in bytes. `key`: the setting that made it so,
    where it is one."""

    def __init__(self, what: str, why: str, remedy: str, available: int, needed: int, key: str = "") -> None:
        facts = {"key": key} if key else {}
        super().__init__("memory", what, why, remedy, available_bytes=available, needed_bytes=needed, **facts)
        self.available, self.needed = available, needed
