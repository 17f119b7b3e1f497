"""Why settings come to no recipe on this machine."""

from __future__ import annotations


class RecipeProblem(Exception):
    """`what` is in the way and what to do (`remedy`, where `what` does not say it), in sentences; `key` is the setting
    to look at."""

    def __init__(self, what: str, remedy: str = "", key: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what, self.remedy, self.key = what, remedy, key
