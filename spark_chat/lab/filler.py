"""Prompts made to measure: an exact number of tokens, and prefixes that no cache has seen but that are all as long.

Both are made of short common words that are one token each, with the space before them, in the vocabularies of today;
what the engine counted is checked all the same, and stands in the record.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

WORDS = (
    "time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world", "school", "state",
    "family", "student", "group", "country", "problem", "hand", "part", "place", "case", "week", "company",
    "system", "program", "question", "work", "number", "night", "point", "home", "water", "room", "mother", "area",
    "money", "story", "fact", "month", "lot", "right", "study", "book", "eye", "job", "word", "business", "issue",
    "side", "kind", "head", "house", "service", "friend", "father", "power", "hour", "game", "line", "end",
    "member", "law", "car", "city", "name",
)  # fmt: skip
OPENING = "Go on with this list of words:"
PREFIX_WORDS = 8
PROBES = (64, 192)
TRIES = 6


def prefix(random: Random) -> str:
    """Unlike any other with all likelihood (66^8 there are), and always the same number of tokens. What differs comes
    as early as it can: only the chat template's own beginning is left for a cache."""
    return " ".join(["Skip", *random.choices(WORDS, k=PREFIX_WORDS)]) + ".\n\n"


def text(words: int, random: Random) -> str:
    """So many words after an opening."""
    return " ".join([OPENING, *random.choices(WORDS, k=words)])


async def words_for(tokens: int, count: Callable[[int], Awaitable[int | None]]) -> int | None:
    """How many words make a prompt of exactly `tokens`, chat template included; None where none does.

    `count(words)` asks the engine for the length of such a prompt; None ends the search.
    """
    few, more = PROBES
    short, long = await count(few), await count(more)
    if short is None or long is None or long <= short:
        return None
    each = (long - short) / (more - few)
    words = round((tokens - short) / each) + few
    for _ in range(TRIES):
        if words < 1:
            return None
        seen = await count(words)
        if seen is None or seen == tokens:
            return words if seen == tokens else None
        words += round((tokens - seen) / each) or (1 if seen < tokens else -1)
    return None
