"""What of a worker's log says why it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TELLING = [
    re.compile(pattern)
    for pattern in (r"GGML_ASSERT|what\(\):|[Oo]ut of memory", r"^\w*(Error|Exception)\b", r" E ", r"Fatal Python")
]
"""Lines of a log that say why it ended, the most telling kind first."""
_ROUTINE = re.compile(r"^[\d.]+ [ID] ")
"""A line of llama.cpp's that says nothing of an end."""


def last_words(lines: Sequence[str]) -> str:
    """A sentence with a blank before it, from a log's last lines; empty where none of them says anything of an end."""
    telling = next((found for kind in _TELLING if (found := [x for x in lines if kind.search(x)])), [])
    telling = telling or [line for line in lines[-1:] if not _ROUTINE.match(line)]
    return f" Its log says: {telling[-1].rstrip(' .')}." if telling else ""
