"""The lab over a scripted engine: any configuration may be slow, fail or die."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Snapshot, Update
from spark_chat.engine.protocol import Abort, AnyCommand, AnyEvent, Count, Generate, Turn
from spark_chat.lab.item import GREEDY, Item, Workload
from spark_chat.lab.plan import Plan
from spark_chat.lab.results import Answer, AnyFound
from spark_chat.lab.runner import Runner, StageKeeper, Standing
from spark_chat.lab.variation import axes, configurations
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.recipe.recipe import Recipe
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE, FakeEngine, FakeModels, Script


def items(*names: str) -> tuple[Item, ...]:
    return tuple(Item(name, (Turn("user", f"Say {name}."),)) for name in names)


def plan(*varied: str, names: Iterable[str] = ("a", "b"), rounds: int = 2, **fields: Any) -> Plan:
    """A small plan over MTP off and on, or what is given."""
    found = axes(varied or ("mtp=off,on",))
    workload = fields.pop("workload", None) or Workload("set", items(*names), {**GREEDY, "max_tokens": 50})
    cumulative = fields.pop("cumulative", False)
    return Plan(
        configurations(Settings(), found, cumulative), workload, rounds, keys=tuple(item.key for item in found),
        cumulative=cumulative, **fields,
    )  # fmt: skip


class Watcher:
    """Keeps everything; `on_found` sees each thing as it comes."""

    def __init__(self) -> None:
        self.all: list[AnyFound] = []
        self.standings: list[Standing] = []
        self.pieces = 0
        self.on_found: Callable[[AnyFound], None] = lambda found: None

    def snapshot(self, snapshot: Snapshot) -> None:
        pass

    def found(self, found: AnyFound, standing: Standing) -> None:
        self.all.append(found)
        self.standings.append(standing)
        self.on_found(found)

    def piece(self, numbers: AnswerNumbers) -> None:
        self.pieces += 1

    @property
    def asked(self) -> list[tuple[int, str, int, str]]:
        """Configuration, prompt, round and role of each answer, in order."""
        return [(item.configuration, item.item, item.round, item.role) for item in self.all if isinstance(item, Answer)]


class Scripted(FakeEngine):
    """`by_mtp`: what the script is under MTP off and on. `counts_words`: a token is a word, and there are 7 more."""

    counts_words = False
    adds = 0
    """Tokens that an answer's prompt has beyond what was counted."""
    silent = False
    """It leaves counts unanswered."""
    on_count: Callable[[], None] = staticmethod(lambda: None)
    held_from: int | None = None
    """The prompts from this one on, of all that are asked, are answered once they are aborted."""
    takes: int | None = None
    """The context the model was made for, where less than was asked for."""

    def __init__(self, by_mtp: dict[bool, Script] | None = None) -> None:
        super().__init__()
        self._asked = 0
        self.by_mtp = by_mtp or {False: Script(tokens=9), True: Script(tokens=9, drafts=2)}

    async def start(
        self, recipe: Recipe, on_event: Callable[[AnyEvent], None], log: Any = None, admit: Any = None
    ) -> None:
        self.script = self.by_mtp[recipe.requested["mtp"]]
        await super().start(replace(recipe, context=self.takes or recipe.context), on_event, log, admit)

    def count(self, command: Count) -> int | None:
        return len(command.messages[-1].content.split()) + 7 if self.counts_words else None

    def send(self, command: AnyCommand) -> None:
        if self.silent and isinstance(command, Count):
            self.on_count()
            return
        if self.counts_words and isinstance(command, Generate):
            self.script.prompt_tokens = len(command.messages[-1].content.split()) + 7 + self.adds
        if isinstance(command, Generate):
            self._asked += 1
            held = self.held_from is not None and self._asked >= self.held_from
            self.script.hold_answer = asyncio.Event() if held else None
        super().send(command)
        if isinstance(command, Abort) and self.script.hold_answer is not None:
            self.script.hold_answer.set()


class Lab:
    """A runner, what it says, and its engine."""

    def __init__(self, plan: Plan, by_mtp: dict[bool, Script] | None = None, known: Iterable[AnyFound] = ()) -> None:
        self.engine, self.watcher = Scripted(by_mtp), Watcher()
        self.runner = Runner(plan, self.make, self.watcher, known)

    def make(self, listener: Callable[[Update], None], keeper: StageKeeper) -> Driver:
        return Driver(
            listener, machine=MACHINE, client_factory=self.engine.client, models=FakeModels(), last_run=keeper
        )

    async def run(self) -> list[AnyFound]:
        return await self.runner.run()


def answer(configuration: int = 0, item: str = "a", round: int = 1, tok_s: float = 100.0, **fields: Any) -> Answer:
    """One that came to its end."""
    values = {
        "decode_tok_s": tok_s, "tpot_ms": 1000 / tok_s, "finish_reason": "stop", "completion_tokens": 20, "ttft_s": 0.1,
        "latency_s": 0.3, "prefill_tok_s": 200.0, "prompt_tokens": 20, "cached_tokens": 0,
    }  # fmt: skip
    return Answer(configuration=configuration, item=item, round=round, **{**values, **fields})


def changed(settings: Settings, **sampling: Any) -> Settings:
    return replace(settings, sampling=replace(settings.sampling, **sampling))
