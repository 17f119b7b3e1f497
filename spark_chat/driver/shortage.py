"""A start that was refused for want of memory."""

from __future__ import annotations


class TooLittleMemory(Exception):
    """A start was refused: what there is and what is needed, why so much, what to do; figures in bytes."""

    def __init__(self, what: str, why: str, remedy: str, available: int, needed: int) -> None:
        super().__init__(what)
        self.what, self.why, self.remedy = what, why, remedy
        self.available, self.needed = available, needed
