"""Texts of the shapes that cost a UI most, for the benchmarks."""

from __future__ import annotations

TOKEN = 4
"""Characters, about what a token has."""


def _code() -> str:
    lines, number = ["```python\n"], 0
    while sum(map(len, lines)) < 16_000:
        lines.append(f"value_{number} = compute({number}, 'text')  # a comment on it\n")
        number += 1
    return "".join(lines) + "```\n\n"


def _table() -> str:
    rows = "".join(f"| row {number} | `code` | **bold** {number} | some more words |\n" for number in range(200))
    return "| a | b | c | d |\n|---|---|---|---|\n" + rows + "\n"


KINDS = {
    "prose": "The quick brown fox jumps over the lazy dog, and then it rests in the shade of a tree. " * 6 + "\n\n",
    "code": _code(),
    "table": _table(),
    "list": "".join(f"- item {n} with **some** words\n  - and `one` below it\n" for n in range(300)) + "\n",
}
KINDS = {name: text * (200_000 // len(text) + 1) for name, text in KINDS.items()}
