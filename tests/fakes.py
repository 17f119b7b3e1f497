"""A scripted engine behind the driver: the API of `EngineClient`, no process, any behaviour a test asks for.

engine = FakeEngine(Script(words=["a ", "b "], rate=100))
driver = Driver(listener, machine=MACHINE, client_factory=engine.client, models=FakeModels(),
                    last_run=FakeLastRun())
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spark_chat.driver.models import Download, Found, Report
from spark_chat.engine.protocol import (
    Abort,
    AnyCommand,
    AnyEvent,
    Count,
    Counted,
    Delta,
    Done,
    Failed,
    FinishReason,
    Generate,
    Left,
    Progress,
    Proof,
    Ready,
    Shutdown,
    Started,
    Statistics,
    Stats,
    Usage,
)  # fmt: skip
from spark_chat.machine import Machine
from spark_chat.meters.session import Stage
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.recipe.recipe import ModelRef, Recipe
from spark_chat.settings.schema import Settings

MACHINE = Machine(
    architecture="x86_64", cpu="A CPU", cores=2, memory_bytes=8 * 1024**3, gpu=None, spark=False
)  # fmt: skip
NGRAM_PROOFS = {
    "humming": Proof(active=False, reason="llama.cpp has no such kernels."),
    "fp8_head": Proof(active=False, reason="llama.cpp has no FP8 head.", facts={"head_type": "Q8_0"}),
    "mtp": Proof(active=True, kind="n-gram", facts={"drafter": "ngram-mod"}),
}


@dataclass
class Script:
    """What the engine does. Change it between starts or answers; it is read when needed.

    `words`: one a token, again from the start where `max_tokens` is more. `rate`: tok/s, 0 as fast as the loop goes.
    `drafts`: accepted drafts in each step after the first. `proofs`: else n-grams on where MTP was asked for.
    `start_failure`, `fails`, `dies_after`: a start that fails, an answer that fails, tokens until the engine dies.
    `unmarked`: so many tokens come as text and turn out to be a thought with the next.
    `hold_start`, `hold_answer`: waited for before Ready, and before the first token.
    """

    words: Sequence[str] = ("one ", "two ", "three ", "four ", "five ", "six ", "seven ", "eight.\n")
    tokens: int | None = None
    reasoning: Sequence[str] = ()
    rate: float = 0.0
    drafts: int = 0
    stages: Sequence[str] = ("weights", "warm-up")
    proofs: dict[str, Proof] | None = None
    cold_turns: int = 1
    prompt_tokens: int = 20
    cached_tokens: int = 0
    context: int = 2048
    finish: FinishReason = "stop"
    start_failure: str = ""
    fails: Failed | None = None
    dies_after: int | None = None
    hold_start: asyncio.Event | None = None
    hold_answer: asyncio.Event | None = None
    unmarked: int = 0
    log: list[str] = field(default_factory=lambda: ["loading", "the last line of the log"])


class FakeEngine:
    """All workers that one driver starts; `commands` is everything it was sent, `recipes` each start."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.commands: list[AnyCommand] = []
        self.recipes: list[Recipe] = []
        self.ends: list[str] = []
        """"stop" or "leave", for each that was up."""
        self.log_path: Path | None = None
        self.pid: int | None = None
        self._on_event: Callable[[AnyEvent], None] = lambda event: None
        self._tasks: set[asyncio.Task[None]] = set()
        self._aborted: set[str] = set()
        self.alive = False

    def client(self) -> FakeEngine:
        """For `client_factory`."""
        return self

    def log_end(self, lines: int = 40) -> list[str]:
        return self.script.log[-lines:]

    async def start(
        self,
        recipe: Recipe,
        on_event: Callable[[AnyEvent], None],
        log: Path | None = None,
        admit: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        if admit is not None:
            await admit()
        assert not self.alive, "a second engine was started"
        self.recipes.append(recipe)
        self._on_event, self.alive, self.pid = on_event, True, 4_242
        self._spawn(self._come_up(recipe))

    def send(self, command: AnyCommand) -> None:
        self.commands.append(command)
        if isinstance(command, Generate):
            self._spawn(self._answer(command))
        elif isinstance(command, Abort):
            self._aborted.add(command.id)
        elif isinstance(command, Count):
            self._tell(Counted(id=command.id, prompt_tokens=self.count(command), time=time.monotonic()))
        elif isinstance(command, Stats):
            self._tell(Statistics(memory_bytes=500_000_000, time=time.monotonic()))
        elif isinstance(command, Shutdown):
            self.alive = False

    def count(self, command: Count) -> int | None:
        """Tokens of a prompt; None: this engine can't tell."""
        return None

    async def leave(self) -> Left | None:
        await self._end("leave")
        return None

    async def stop(self) -> None:
        await self._end("stop")

    async def _end(self, how: str) -> None:
        if self.alive:
            self.ends.append(how)
        self.alive = False
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def kill(self) -> None:
        self.alive = False

    def die(self) -> None:
        """The process ends by itself."""
        if self.alive:
            what, remedy = "The engine's process has ended.", "Restart the engine; the conversation is kept."
            self._tell(Failed(code="died", what=what, why="It was ended by signal 9 (SIGKILL).", remedy=remedy,
                              time=time.monotonic()))  # fmt: skip
            self.alive = False
            for task in self._tasks - {asyncio.current_task()}:
                task.cancel()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _tell(self, event: AnyEvent) -> None:
        if self.alive:
            self._on_event(event)

    async def _come_up(self, recipe: Recipe) -> None:
        script = self.script
        for number, stage in enumerate(script.stages):
            self._tell(Progress(stage=stage, fraction=number / len(script.stages), text=stage, time=time.monotonic()))
            await asyncio.sleep(0)
        if script.hold_start is not None:
            await script.hold_start.wait()
        if script.start_failure:
            self._tell(Failed(code="load", what=script.start_failure, remedy="Try another.", time=time.monotonic()))
            return
        wanted = recipe.load().optimizations
        off = {"mtp": Proof(active=False, kind="n-gram", reason="It was not asked for.")}
        proofs = script.proofs or (NGRAM_PROOFS if wanted["mtp"] else {**NGRAM_PROOFS, **off})
        self._tell(
            Ready(
                engine=recipe.engine, version="1.0", model=recipe.model.name, context=recipe.context or script.context,
                proofs=proofs, cold_turns=script.cold_turns, time=time.monotonic(),
            )
        )  # fmt: skip

    async def _answer(self, command: Generate) -> None:
        script = self.script
        id, limit = command.id, command.sampling.max_tokens
        total = len(script.reasoning) + (len(script.words) if script.tokens is None else script.tokens)
        emitted = min(limit, total)
        words = itertools.chain(script.reasoning, itertools.cycle(script.words))
        speculating = self.recipes[-1].load().optimizations["mtp"]
        tokens = steps = accepted = 0
        finish: FinishReason = "length" if limit < total else script.finish
        self._tell(Started(id=id, time=time.monotonic()))
        if script.hold_answer is not None:
            await script.hold_answer.wait()
        if script.fails is not None:
            self._tell(script.fails.__class__(**{**_fields(script.fails), "id": id, "time": time.monotonic()}))
            return
        while tokens < emitted:
            if id in self._aborted:
                finish = "abort"
                break
            more = 1 if tokens == 0 else min(1 + script.drafts, emitted - tokens)
            await asyncio.sleep(more / script.rate if script.rate else 0)
            if tokens:
                steps, accepted = steps + 1, accepted + more - 1
            thinking = "".join(itertools.islice(words, max(0, min(more, len(script.reasoning) - tokens))))
            text = "".join(itertools.islice(words, more - max(0, min(more, len(script.reasoning) - tokens))))
            ended = 0 < script.unmarked == tokens
            tokens += more
            self._tell(
                Delta(
                    id=id, text=text, reasoning=thinking, tokens=tokens, verify_steps=steps if speculating else None,
                    accepted_drafts=accepted if speculating else None, prompt_tokens=script.prompt_tokens,
                    cached_tokens=script.cached_tokens, time=time.monotonic(), was_thought=ended,
                )
            )  # fmt: skip
            if script.dies_after is not None and tokens >= script.dies_after:
                self.die()
                return
        self._tell(
            Done(
                id=id, finish=finish, time=time.monotonic(),
                usage=Usage(
                    prompt_tokens=script.prompt_tokens, cached_tokens=script.cached_tokens, completion_tokens=tokens,
                    verify_steps=steps if speculating else None, accepted_drafts=accepted if speculating else None,
                    proposed_drafts=accepted if speculating else None, prefill_tokens=min(1, tokens),
                    reasoning_tokens=min(tokens, len(script.reasoning)),
                ),
            )
        )  # fmt: skip


def _fields(struct: Failed) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


class FakeModels:
    """A model that is there, or a download of `size` bytes that ends as `outcome` says."""

    def __init__(self, size: int | None = None, problem: RecipeProblem | None = None, note: str = "") -> None:
        self.size, self.problem, self.note = size, problem, note
        self.fetched = 0
        self.hold: asyncio.Event | None = None

    async def look(self, settings: Settings, machine: Machine) -> Found | Download:
        model = ModelRef("small.gguf", settings.engine.model or "/models/small.gguf")
        if self.size is None or self.fetched:
            if self.problem is not None:
                raise self.problem
            return Found(model, self.note)

        async def fetch(report: Report) -> ModelRef:
            report(0.5, "half of it")
            if self.hold is not None:
                await self.hold.wait()
            if self.problem is not None:
                raise self.problem
            self.fetched += 1
            return model

        return Download("small.gguf", self.size, fetch)


class FakeLastRun:
    """Keeps the last configuration that ran for the test's life."""

    def __init__(self) -> None:
        self.settings: Settings | None = None
        self.stages: tuple[Stage, ...] = ()

    def read(self) -> Settings | None:
        return self.settings

    def last_stages(self, recipe: Recipe, cold: bool) -> tuple[Stage, ...]:
        return self.stages

    def write(self, settings: Settings, recipe: Recipe, stages: tuple[Stage, ...], cold: bool) -> None:
        self.settings, self.stages = settings, stages
