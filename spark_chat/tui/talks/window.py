"""Which rows of a long list are in view and which are known: pages are asked for when they come into view. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

Row = TypeVar("Row")
PAGE = 100
"""Rows asked for at a time."""


class Window(Generic[Row]):
    """`total` rows, of which `shown` are in view from `first` on; one of them is chosen."""

    def __init__(self) -> None:
        self.total = 0
        self.first = 0
        self.chosen = 0
        self.shown = 1
        self._rows: dict[int, Row] = {}
        self._asked: set[int] = set()

    def reset(self, total: int, rows: Iterable[Row], first: int = 0) -> None:
        """Another list; what was chosen stays, as far as there is a row of that number."""
        self.total = total
        self._rows = dict(enumerate(rows, first))
        self._asked = {first // PAGE}
        self.choose(self.chosen)

    def put(self, first: int, total: int, rows: Iterable[Row]) -> None:
        """A page that was asked for came."""
        self.total = total
        self._rows |= dict(enumerate(rows, first))
        self.choose(self.chosen)

    def resize(self, shown: int) -> None:
        """So many rows fit now."""
        self.shown = max(1, shown)
        self.choose(self.chosen)

    def move(self, step: int) -> None:
        """Choose the row `step` further; the ends stop it."""
        self.choose(self.chosen + step)

    def choose(self, number: int) -> None:
        """Choose a row, and have it in view."""
        self.chosen = max(0, min(self.total - 1, number))
        self.first = max(0, min(self.first, self.total - self.shown))
        if self.chosen < self.first:
            self.first = self.chosen
        elif self.chosen >= self.first + self.shown:
            self.first = self.chosen - self.shown + 1

    @property
    def row(self) -> Row | None:
        """The chosen one; None where there is none, or it isn't known yet."""
        return self._rows.get(self.chosen)

    @property
    def view(self) -> list[tuple[int, Row | None]]:
        """(number, row) of those in view; None for one that is not known yet."""
        return [(at, self._rows.get(at)) for at in range(self.first, min(self.total, self.first + self.shown))]

    def wanted(self) -> int | None:
        """Number of the first row of a page that is to be asked for now; None for none. It's told once."""
        for at, row in self.view:
            if row is None and at // PAGE not in self._asked:
                self._asked.add(at // PAGE)
                return at // PAGE * PAGE
        return None
