"""What is compared, as a person writes it in one line: the words of `bench run`, on a screen.

`chat code`, `mine.jsonl --fresh`, `gsm8k --data test.parquet --questions 50`, `chat --resume`.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from spark_chat.lab.item import BadWorkload

OPTIONS = "--data FILE, --questions N, --max-tokens N, --fixed-length, --sampled, --fresh, --resume"


@dataclass(frozen=True)
class Wish:
    """`sources`: workloads and files. The rest as the options of `bench run` are called."""

    sources: tuple[str, ...] = ()
    data: str | None = None
    questions: int | None = None
    max_tokens: int | None = None
    fixed_length: bool = False
    sampled: bool = False
    fresh: bool = False
    resume: bool = False


def wish(text: str) -> Wish:
    """What `text` says. Raises BadWorkload."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise BadWorkload("A quotation mark is open. Close it, or put a backslash before it.") from None
    sources: list[str] = []
    found: dict[str, object] = {}
    at = iter(words)
    for word in at:
        name, equals, given = word.partition("=")
        option = name.removeprefix("--").replace("-", "_")
        if not word.startswith("--"):
            sources.append(word)
        elif option in ("fixed_length", "sampled", "fresh", "resume") and not equals:
            found[option] = True
        elif option in ("data", "questions", "max_tokens"):
            found[option] = _value(name, given if equals else next(at, ""))
        else:
            raise BadWorkload(f"There is no option {word[:60]}. Options here are {OPTIONS}.")
    return Wish(tuple(sources), **found)  # type: ignore[arg-type]


def _value(name: str, given: str) -> str | int:
    if name == "--data":
        if not given:
            raise BadWorkload("--data needs the name of a file.")
        return given
    least = 2 if name == "--max-tokens" else 1
    if not (given.isascii() and given.isdecimal() and least <= int(given) <= 1_048_576):
        raise BadWorkload(f"{name} needs a whole number from {least} to 1,048,576, not {given[:20] or 'nothing'}.")
    return int(given)
