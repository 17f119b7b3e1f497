"""Prompts made to measure: an exact number of tokens, and prefixes that no cache has seen but that are all as long.

Both are made of short common words that are one token each, with the space before them, in the vocabularies of today.
Nothing relies on that: the engine counts each text before it is asked, and where a word is several tokens the end is
made up of marks.
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
TRIES = 8
DRAWS = 400
"""Prefixes that are tried for one of the wanted length: where a byte is a token, one in 25 has it."""
MARKS = (" a", ".", " .", "\n.", "x")
"""What may make up a few tokens that are still missing, whatever the vocabulary."""

Count = Callable[[str], Awaitable[int | None]]
"""How many tokens the prompt with this text is, chat template included, by the engine's count; None: it can't tell."""


def prefix(random: Random) -> str:
    """Unlike any other with all likelihood (66^8 there are). What differs comes as early as it can: only the chat
    template's own beginning is left for a cache."""
    return " ".join(["Skip", *random.choices(WORDS, k=PREFIX_WORDS)]) + ".\n\n"


async def even_prefix(random: Random, of: Random, count: Count) -> str:
    """A prefix that is as many tokens as the one that `of` draws. Where the engine can't tell, any is taken."""
    wanted = await count(prefix(of))
    found = prefix(random)
    for _ in range(DRAWS):
        if wanted is None or await count(found) == wanted:
            break
        found = prefix(random)
    return found


async def exact(tokens: int, random: Random, count: Count) -> str | None:
    """Words that make a prompt of exactly `tokens`; None where none could be made, or the engine can't tell."""
    words = random.choices(WORDS, k=tokens)  # none is less than a token

    def text(of: int) -> str:
        return " ".join([OPENING, *words[:of]])

    least = seen = await count(text(0))
    if least is None or least > tokens:
        return None
    most, missing, many = 0, tokens - least, tokens - least
    for _ in range(TRIES):
        seen = await count(text(many))
        if seen is None or seen == tokens:
            return None if seen is None else text(many)
        if seen < tokens and many >= most:
            most, missing = many, tokens - seen
        each = max(1.0, (seen - least) / max(1, many))
        further = round((tokens - seen) / each)
        if seen < tokens and not further:
            break  # less than a word is missing
        many = min(len(words), max(0, many + (further or -1)))
    for mark in MARKS:
        filled = text(most) + mark * missing
        if await count(filled) == tokens:
            return filled
    return None
