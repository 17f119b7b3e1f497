"""Heights of things that stand on each other, and where each begins. Cheap where only the last ones change."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


class Heights:
    """Sizes in rows. Tops are summed when asked for, from the first one that changed."""

    def __init__(self, sizes: Sequence[int] = ()) -> None:
        self._sizes = list(sizes)
        self._tops = [0]  # _tops[i] is the top of i; as many as are valid

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, index: int) -> int:
        return self._sizes[index]

    def __setitem__(self, index: int, size: int) -> None:
        if self._sizes[index] != size:
            self._sizes[index] = size
            del self._tops[index + 1 :]

    def append(self, size: int) -> None:
        """One more, below all others."""
        self._sizes.append(size)

    def replace(self, start: int, end: int, sizes: Sequence[int]) -> None:
        """Put `sizes` where `start` to `end` are."""
        self._sizes[start:end] = sizes
        del self._tops[start + 1 :]

    def top(self, index: int) -> int:
        """Rows above `index`; `len` is allowed and gives the total."""
        tops, sizes = self._tops, self._sizes
        if len(tops) <= index:
            total = tops[-1]
            for size in sizes[len(tops) - 1 : index]:
                total += size
                tops.append(total)
        return tops[index]

    @property
    def total(self) -> int:
        """Rows of all."""
        return self.top(len(self._sizes))

    def at(self, row: int) -> int:
        """Which one `row` falls in; the nearest one where it is outside. There must be at least one."""
        self.top(len(self._sizes))
        return max(0, min(bisect_right(self._tops, row) - 1, len(self._sizes) - 1))
