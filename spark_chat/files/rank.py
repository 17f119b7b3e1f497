"""Which paths fit what was typed, best first. Pure."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable

LONGEST_QUERY = 100
"""Characters of a query that count."""


def ranked(paths: Iterable[str], query: str, most: int) -> list[str]:
    """At most `most` of `paths` that hold the characters of `query` in their order, whatever the case: those whose name
    begins with it first, then those that hold it in one piece, then the shortest."""
    wanted = query[:LONGEST_QUERY].casefold()
    if not wanted:
        return list(heapq.nsmallest(most, paths, key=lambda path: (path.count("/"), path.casefold())))
    loose = re.compile(".*?".join(re.escape(char) for char in wanted), re.DOTALL)
    scored = (
        (_score(folded, wanted, found.end() - found.start()), path)
        for path in paths
        if (found := loose.search(folded := path.casefold()))
    )
    return [path for _, path in heapq.nsmallest(most, scored)]


def _score(path: str, wanted: str, span: int) -> tuple[int, int, int]:
    name = path.rstrip("/").rpartition("/")[2]
    if name.startswith(wanted):
        place = 0
    elif wanted in name:
        place = 1
    elif wanted in path:
        place = 2
    else:
        place = 3
    return place, span if place == 3 else 0, len(path)
