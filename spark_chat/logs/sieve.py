"""Which lines of a log are shown. Pure."""

from __future__ import annotations


class Sieve:
    """Words that must all be in a line, whatever the case; one with a minus before it must not be."""

    def __init__(self, text: str = "") -> None:
        words = text.casefold().split()
        self._wanted = [word for word in words if word == "-" or not word.startswith("-")]
        self._unwanted = [word[1:] for word in words if len(word) > 1 and word.startswith("-")]

    def passes(self, line: str) -> bool:
        folded = line.casefold()
        return all(word in folded for word in self._wanted) and not any(word in folded for word in self._unwanted)
