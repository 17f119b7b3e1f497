"""A driver that does what the test says, at the front end's side of it: no process, no socket, no clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece, Snapshot, Update
from spark_chat.engine.protocol import Counted, Failed, Opening, Progress, Ready, Statistics, Turn
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.optimizations.optimization import Badge, State
from spark_chat.recipe.recipe import ModelRef, Recipe
from spark_chat.settings.schema import Settings

MODEL = "SmolLM2-135M-Instruct.Q4_1"
GIB = 1 << 30


def badges(mtp: State = State.ACTIVE, label: str = "n-gram", **fields: Any) -> tuple[Badge, ...]:
    """Humming and FP8 head as llama.cpp has them, and an MTP badge in the state asked for."""
    reason = "needs SGLang on an NVIDIA GPU"
    proof = {"drafter": "ngram_mod"} if mtp is State.ACTIVE else {}
    return (
        Badge("humming", "Humming", State.UNAVAILABLE, True, reason),
        Badge("fp8_head", "FP8 head", State.UNAVAILABLE, True, reason, proof={"output_type": "Q6_K"}),
        Badge("mtp", label if mtp is State.ACTIVE else "MTP", mtp, mtp is not State.OFF, proof=proof, **fields),
    )


@dataclass
class FakeDriver:
    """Records what it is asked; `say`, `piece`, `answer` and the like are the test's."""

    listener: Callable[[Update], None]
    model: str = MODEL
    by_itself: bool = True
    """Becomes ready as soon as it is started."""
    snapshot: Snapshot = Snapshot()
    asked: list[tuple[str, list[str]]] = field(default_factory=list)
    started: list[Settings] = field(default_factory=list)
    aborted: list[str | None] = field(default_factory=list)
    settings: list[Settings] = field(default_factory=list)
    """What each prompt was asked with."""
    openings: list[Opening | None] = field(default_factory=list)
    """What each answer already said."""
    saved_settings: Settings | None = None
    confirmed: int = 0
    closed: bool = False
    counts: int = 0

    # what the app calls

    async def start(self, settings: Settings) -> None:
        self.started.append(settings)
        self.say(phase=Phase.STARTING, failure=None, log_end=(), ready=None)
        await asyncio.sleep(0)
        if self.by_itself:
            self.ready()

    restart = start

    async def stop(self) -> None:
        self.say(phase=Phase.STOPPED)

    async def close(self) -> None:
        self.closed = True
        if self.snapshot.answering is not None:
            self.done(finish="abort")
        self.say(phase=Phase.STOPPED)

    async def confirm(self) -> None:
        self.confirmed += 1

    def ask(
        self, id: str, messages: Sequence[Turn], settings: Settings, *, ignore_eos: bool = False,
        opening: Opening | None = None,
    ) -> None:  # fmt: skip
        self.settings.append(settings)
        self.openings.append(opening)
        self.asked.append((id, [turn.content for turn in messages]))
        if self.snapshot.phase is Phase.READY:
            self.say(answering=id)

    def abort(self, id: str | None = None) -> None:
        self.aborted.append(id)

    async def count(self, messages: Sequence[Turn], texts: Sequence[str], thinking: bool) -> Counted | None:
        """A token a word, and three a turn for its template."""
        if self.snapshot.phase is not Phase.READY:
            return None
        self.counts += 1
        words = [len(turn.content.split()) + 3 for turn in messages]
        return Counted(id="", prompt_tokens=sum(words), text_tokens=[len(text.split()) for text in texts], time=0.0)

    @property
    def counting(self) -> FakeDriver:
        return self

    def saved(self, settings: Settings) -> None:
        self.saved_settings = settings
        self.say(badges=tuple(b.with_pending(getattr(settings.optimizations, b.name)) for b in self.snapshot.badges))

    # what the test calls

    def say(self, **fields: Any) -> None:
        self.snapshot = replace(self.snapshot, **fields)
        self.listener(Changed(self.snapshot))

    def ready(self, **fields: Any) -> None:
        recipe = Recipe("llama.cpp", ModelRef(self.model, "/models/x.gguf"), 8192, {})
        ready = Ready(engine="llama.cpp", version="b9999", model="x", context=8192, proofs={}, time=0.0)
        values = {
            "phase": Phase.READY, "recipe": recipe, "ready": ready, "badges": badges(), "progress": None,
            "statistics": Statistics(memory_bytes=int(0.4 * GIB), time=0.0),
        }  # fmt: skip
        self.say(**{**values, **fields})
        if self.asked and self.snapshot.answering is None:
            self.say(answering=self.asked[-1][0])

    def progress(self, text: str, fraction: float | None = None, phase: Phase = Phase.STARTING) -> None:
        self.say(phase=phase, progress=Progress(stage="load", fraction=fraction, text=text, time=0.0))

    def piece(self, text: str, reasoning: str = "", was_thought: bool = False, **numbers: Any) -> None:
        """Text for the prompt asked last."""
        values = {"tokens": 1, "live_tok_s": 131.2, "live_accept_length": 1.83}
        figures = AnswerNumbers(**{**values, **numbers})
        self.listener(Piece(self.asked[-1][0], text, reasoning, figures, was_thought=was_thought))

    def done(
        self,
        finish: str = "stop",
        failure: Failed | None = None,
        engine_figures: dict[str, object] | None = None,
        **numbers: Any,
    ) -> None:
        """The prompt asked last is over."""
        values = {
            "tokens": 214, "decode_tok_s": 131.2, "ttft_s": 0.08, "tpot_ms": 7.6, "accept_length": 1.83,
            "verify_steps": 117, "prompt_tokens": 40,
        }  # fmt: skip
        id = self.asked[-1][0]
        self.say(answering=None, context_used=3100)
        self.listener(
            Answered(id, AnswerNumbers(**{**values, "finish": finish, **numbers}), failure, {}, engine_figures or {})
        )

    def answer(self, text: str) -> None:
        self.piece(text)
        self.done()

    def overflow(self, prompt_tokens: int, context: int) -> None:
        """The prompt asked last does not fit."""
        facts = {"prompt_tokens": prompt_tokens, "context": context}
        failed = Failed(id=self.asked[-1][0], code="overflow", what="Too long.", facts=facts, time=0.0)
        self.say(answering=None)
        self.listener(Answered(self.asked[-1][0], AnswerNumbers(finish="failed"), failed))

    def fail(self, what: str, *log: str, **fields: Any) -> None:
        """The engine is gone."""
        failed = Failed(code="died", what=what, why="The log's end says more.", remedy="Start it again.", time=0.0)
        self.say(phase=Phase.FAILED, failure=failed, log_end=log, answering=None, statistics=None, **fields)
