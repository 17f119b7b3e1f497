"""One thing to ask, and a set of them: what a measurement runs over."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_chat.engine.protocol import Turn


class BadWorkload(Exception):
    """Why there is nothing to ask: a sentence that names file and line."""


@dataclass(frozen=True)
class Item:
    """One prompt. `name` is unique in its workload. `expected`: the right answer, where answers are judged.
    `tokens`: the exact length that the prompt is to have, where it is made to measure; `messages` are then empty."""

    name: str
    messages: tuple[Turn, ...] = ()
    kind: str = ""
    expected: str | None = None
    tokens: int | None = None

    @property
    def digest(self) -> str:
        """Of what is asked; the same on every machine."""
        asked = [[turn.role, turn.content] for turn in self.messages]
        return _digest([asked, self.expected, self.tokens])


@dataclass(frozen=True)
class Workload:
    """Prompts, and how they are to be answered.

    `sampling`: values that stand over the settings, by the name within the section. `seed`: of the first answer, where
    each gets its own. `ignore_eos`: every answer has exactly max_tokens. `extraction`: version of the rules that take
    an answer out of a text; empty where none is judged.
    """

    name: str
    items: tuple[Item, ...]
    sampling: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    ignore_eos: bool = False
    extraction: str = ""
    rounds: int = 3
    note: str = ""

    @property
    def digest(self) -> str:
        """Of all prompts in their order."""
        return _digest([[item.name, item.digest] for item in self.items])


GREEDY: Mapping[str, Any] = {"temperature": 0.0}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()[:16]
