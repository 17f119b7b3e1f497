"""Asking the prompts of a plan: one answer at a time, on whatever engine is up."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from spark_chat.driver.asking import Asking
from spark_chat.engine.protocol import Turn
from spark_chat.lab import filler, gsm8k
from spark_chat.lab.item import Item
from spark_chat.lab.plan import Plan
from spark_chat.lab.results import Answer, Role, answer_of
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings

WARM_TOKENS = 32
"""Longest answer of a warm-up."""
_IDS = itertools.count(1)
"""No id comes twice on one engine: a stop that arrives late must not meet the next measurement's answer."""


def _nothing(numbers: AnswerNumbers) -> None:
    pass


class Measure:
    """`clock`: seconds since the measurement began. `on_piece`: the numbers of the answer under way."""

    def __init__(
        self,
        asking: Asking,
        plan: Plan,
        clock: Callable[[], float],
        on_piece: Callable[[AnswerNumbers], None] = _nothing,
    ) -> None:
        self._asking, self._plan, self._clock, self._on_piece = asking, plan, clock, on_piece
        self._words: dict[int, int] = {}

    async def warm_up(self, configuration: int, turns: int) -> list[Answer]:
        """The first answers after a start, which are not yet at speed, as many as the engine says."""
        items = list(enumerate(self._plan.workload.items))
        found = []
        for _, (place, item) in zip(range(turns), itertools.cycle(items), strict=False):
            answer = await self.answer(configuration, place, item, 0, "warm-up")
            if answer is None:
                break
            found.append(answer)
            if not answer.whole:
                break
        return found

    async def answer(self, configuration: int, place: int, item: Item, round: int, role: Role) -> Answer | None:
        """Ask `item`, the one at `place`, once. None where it was interrupted before anything came."""
        plan, at_s = self._plan, self._clock()
        settings = plan.settings(configuration)
        seed = plan.seed(settings, place, round) if round else None
        sampling = replace(settings.sampling, seed=seed)
        if role == "warm-up":
            sampling = replace(sampling, max_tokens=min(sampling.max_tokens, WARM_TOKENS))
        asked = replace(settings, sampling=sampling)
        random = Random(f"{item.digest} {round} {role}{plan.salt}")  # the same text in every configuration
        messages = await self._messages(item, asked, random)
        if messages is None:
            if self._asking.interrupted:
                return None
            return Answer(
                configuration=configuration, item=item.name, round=round, role=role, at_s=at_s, finish_reason="failed",
                failure=self._too_long(item, settings) or (
                    f"No prompt of exactly {item.tokens:,} tokens could be made for this model."
                ),
            )  # fmt: skip
        run = await self._asking.ask(self._id(), messages, asked, ignore_eos=plan.fixed_length, on_piece=self._on_piece)
        if run is None:
            return None
        given = right = None
        if item.expected is not None:
            given, right = gsm8k.extracted(run.text), gsm8k.right(run.text, item.expected)
        return answer_of(
            run, configuration=configuration, item=item.name, round=round, role=role, at_s=at_s, seed=seed,
            given=given, right=right,
        )  # fmt: skip

    def _too_long(self, item: Item, settings: Settings) -> str | None:
        """Why a prompt made to measure and its answer can't fit, in sentences."""
        ready = self._asking.driver.snapshot.ready
        needed = (item.tokens or 0) + settings.sampling.max_tokens
        if item.tokens is None or ready is None or needed <= ready.context:
            return None
        return (
            f"{item.tokens:,} tokens in and {settings.sampling.max_tokens:,} out need a context of {needed:,}, and the "
            f"engine has {ready.context:,}. Give --set engine.context={needed}, or a model that was made for so many."
        )

    async def _messages(self, item: Item, settings: Settings, random: Random) -> Sequence[Turn] | None:
        if self._too_long(item, self._plan.settings(0)):
            return None
        if item.tokens is not None:
            words = self._words.get(item.tokens)
            if words is None:
                words = await filler.words_for(item.tokens, lambda count: self._count(count, settings))
                if words is None:
                    return None
                self._words[item.tokens] = words
            return (Turn("user", filler.text(words, random)),)
        if not self._plan.fresh:
            return item.messages
        last = item.messages[-1]
        return (*item.messages[:-1], Turn(last.role, filler.prefix(random) + last.content))

    async def _count(self, words: int, settings: Settings) -> int | None:
        """How many tokens a made prompt of so many words is, by the engine's own count."""
        short = replace(settings, sampling=replace(settings.sampling, max_tokens=1))
        run = await self._asking.ask(self._id(), (Turn("user", filler.text(words, Random(words))),), short)
        return None if run is None or run.failure is not None else run.numbers.prompt_tokens

    def _id(self) -> str:
        return f"lab-{next(_IDS)}"
