"""Asking the prompts of a plan: one answer at a time, on whatever engine is up."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from spark_chat.driver.asking import Asking, Run
from spark_chat.engine.protocol import Failed, Turn
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


def _held(run: Run, item: Item) -> Run:
    """`run`; as a failure where a prompt that was made to measure came out at another length."""
    seen = run.numbers.prompt_tokens
    if item.tokens is None or run.failure is not None or seen in (None, item.tokens):
        return run
    what = f"The engine read {seen:,} tokens where {item.tokens:,} were to be read."
    return replace(run, failure=Failed(code="protocol", what=what, time=0.0))


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
        # A warm-up must leave nothing in the prefix cache of what is measured after it.
        messages = await self._messages(item, asked, random, plan.fresh or role == "warm-up")
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
        run = _held(run, item)
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
        enough = settings.engine.context is not None and settings.engine.context >= needed
        remedy = "This model takes no more: name one that was made for so many." if enough else (
            f"Give --set engine.context={needed}, or a model that was made for so many."
        )  # fmt: skip
        return (
            f"{item.tokens:,} tokens in and {settings.sampling.max_tokens:,} out need a context of {needed:,}, and the "
            f"engine has {ready.context:,}. {remedy}"
        )

    async def _messages(self, item: Item, settings: Settings, random: Random, fresh: bool) -> Sequence[Turn] | None:
        if self._too_long(item, self._plan.settings(0)):
            return None
        thinking = settings.sampling.thinking
        if item.tokens is not None:
            text = await filler.exact(
                item.tokens, random, lambda text: self._asking.count((Turn("user", text),), thinking)
            )
            return None if text is None else (Turn("user", text),)
        if not fresh:
            return item.messages
        *before, last = item.messages

        def behind(prefix: str) -> tuple[Turn, ...]:
            return (*before, Turn(last.role, prefix + last.content))

        like = Random(item.digest)
        return behind(
            await filler.even_prefix(random, like, lambda prefix: self._asking.count(behind(prefix), thinking))
        )

    def _id(self) -> str:
        return f"lab-{next(_IDS)}"
