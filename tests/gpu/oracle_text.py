"""The oracle's known text, without torch: what target and draft say after each token, and what speculation makes of it.

The checkpoint (oracle_weights.py) answers every token t with f(t), whatever the context. Two cycles of tokens, told
apart by the last token of the prompt: in "right" the draft is always right, in "mixed" it is wrong for some tokens.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

UNKNOWN, USER, ASSISTANT, THINK, END_THINK = range(5)
SPECIAL = ("<unk>", "<|user|>", "<|assistant|>", "<think>", "</think>")
"""Ids 0 to 4. A prompt that ends in THINK goes on in "right", one that ends in anything else in "mixed"."""
FIRST_WORD = 16
_ONSETS, _VOWELS = "bdfgklmnprstvz", "aeiou"


def word(token: int) -> str:
    """The word of a token: syllables that spell its number, so that a screen of it can be read."""
    if token < len(SPECIAL):
        return SPECIAL[token]
    size = len(_ONSETS) * len(_VOWELS)
    parts = []
    for _ in range(3):
        token, part = divmod(token, size)
        parts.append(_ONSETS[part // len(_VOWELS)] + _VOWELS[part % len(_VOWELS)])
    return "".join(parts)


@dataclass(frozen=True)
class Expected:
    """What one answer must count to. `accept_length` leaves the prefill's token out; None without a verify step."""

    tokens: list[int]
    verify_steps: int
    accepted_drafts: int
    histogram: list[int]

    @property
    def accept_length(self) -> float | None:
        return (len(self.tokens) - 1) / self.verify_steps if self.verify_steps else None


class Oracle:
    """`right`, `mixed`: the cycles. `wrong`: token -> what the draft says after it instead."""

    def __init__(self, right: Sequence[int], mixed: Sequence[int], wrong: dict[int, int], eos: int) -> None:
        self.right, self.mixed, self.wrong, self.eos = list(right), list(mixed), dict(wrong), eos
        self._next = {
            token: cycle[(place + 1) % len(cycle)]
            for cycle in (self.right, self.mixed)
            for place, token in enumerate(cycle)
        }

    @classmethod
    def load(cls, folder: Path) -> Oracle:
        spec = json.loads((folder / "oracle.json").read_text())
        return cls(spec["right"], spec["mixed"], {int(token): said for token, said in spec["wrong"].items()},
                   spec["eos"])  # fmt: skip

    def canonical(self, token: int) -> int:
        """The token of a cycle that `token` behaves like."""
        if token in self._next:
            return token
        return self.right[0] if token == THINK else self.mixed[token % len(self.mixed)]

    def next(self, token: int) -> int:
        return self._next[self.canonical(token)]

    def draft(self, token: int) -> int:
        token = self.canonical(token)
        return self.wrong.get(token, self._next[token])

    def text(self, last_prompt_token: int, count: int) -> list[int]:
        found, token = [], last_prompt_token
        for _ in range(count):
            token = self.next(token)
            found.append(token)
        return found

    def expect(self, last_prompt_token: int, max_tokens: int, steps: int = 3) -> Expected:
        """SGLang's loop with a chain draft: the prefill gives one token; each verify step keeps the right start of
        `steps` drafts and adds a token of its own; what lies past `max_tokens` is not counted."""
        token = self.next(last_prompt_token)
        count, accepted_all, histogram = 1, 0, [0] * (steps + 1)
        while count < max_tokens:
            drafts, guess = [], token
            for _ in range(steps):
                guess = self.draft(guess)
                drafts.append(guess)
            accepted, truth = 0, token
            while accepted < steps and drafts[accepted] == self.next(truth):
                truth = drafts[accepted]
                accepted += 1
            token = self.next(truth)
            histogram[accepted] += 1
            accepted_all += min(accepted, max_tokens - count)
            count += accepted + 1
        return Expected(self.text(last_prompt_token, max_tokens), sum(histogram), accepted_all, histogram)


def words(tokens: Sequence[int]) -> str:
    """The text that a chat shows of them."""
    return " ".join(word(token) for token in tokens)
