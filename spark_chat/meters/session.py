"""What is counted from one start of the engine to its end, over all answers. Pure: events in, numbers out."""

from __future__ import annotations

from dataclasses import dataclass

from spark_chat.engine.protocol import AnyEvent, Delta, Done, Failed, Progress, Ready, Started
from spark_chat.meters.answer import accept_length
from spark_chat.meters.numbers import Counters


@dataclass(frozen=True)
class Stage:
    """One stage of the start and how long it took, seconds."""

    name: str
    seconds: float


@dataclass
class _Tally:
    """Speculation's counts, of one answer or of many. `prefill`: ids of `tokens` that the prefill gave."""

    tokens: int = 0
    prefill: int = 0
    steps: int = 0
    accepted: int = 0
    proposed: int | None = None

    def add(self, other: _Tally) -> None:
        self.tokens += other.tokens
        self.prefill += other.prefill
        self.steps += other.steps
        self.accepted += other.accepted
        if other.proposed is not None:
            self.proposed = (self.proposed or 0) + other.proposed


class SessionMeter:
    """Feed it every event of one worker, from its spawn at `begun` (seconds of the events' clock). What an engine that
    was taken over did before is counted in, but as turns."""

    def __init__(self, begun: float) -> None:
        self._begun = begun
        self._ready: Ready | None = None
        self._stages: list[tuple[str, float]] = []
        self._turns = 0
        self._past = _Tally()
        self._now: _Tally | None = None
        self._draft_length: int | None = None
        self._context_used = 0
        self._prompt_tokens: int | None = None

    def feed(self, event: AnyEvent) -> None:
        """Take the next event."""
        if isinstance(event, Progress) and self._ready is None:
            if not self._stages or self._stages[-1][0] != event.stage:
                self._stages.append((event.stage, event.time))
        elif isinstance(event, Ready):
            self._ready = event
            if event.past is not None:
                past = event.past
                self._past = _Tally(
                    past.tokens, past.prefill_tokens, past.verify_steps, past.accepted_drafts, past.proposed_drafts
                )
        elif isinstance(event, Started):
            self._close_answer()
            self._turns += 1
            self._now = _Tally()
            self._prompt_tokens = None
        elif isinstance(event, Delta):
            self._take_delta(event)
        elif isinstance(event, Done):
            usage = event.usage
            self._now = _Tally(
                usage.completion_tokens, min(usage.prefill_tokens, usage.completion_tokens),
                usage.verify_steps or 0, usage.accepted_drafts or 0, usage.proposed_drafts,
            )  # fmt: skip
            if usage.completion_tokens:  # stopped before its first token, the prompt may be half read
                self._context_used = usage.prompt_tokens + usage.completion_tokens
            self._close_answer()
        elif isinstance(event, Failed):
            self._close_answer()

    def _take_delta(self, event: Delta) -> None:
        if event.draft_length is not None:
            self._draft_length = event.draft_length
        if event.prompt_tokens is not None:
            self._prompt_tokens = event.prompt_tokens
        if self._prompt_tokens is not None and event.tokens:
            self._context_used = self._prompt_tokens + event.tokens
        self._now = _Tally(
            event.tokens, min(1, event.tokens), event.verify_steps or 0, event.accepted_drafts or 0,
            event.proposed_drafts,
        )  # fmt: skip

    def _close_answer(self) -> None:
        if self._now is not None:
            self._past.add(self._now)
            self._now = None

    @property
    def turns(self) -> int:
        """Answers that the engine was asked for since it came up."""
        return self._turns

    @property
    def next_is_cold(self) -> bool:
        """Whether the next answer is one of the first after the start, by the engine's own word."""
        return self._turns < (self._ready.cold_turns if self._ready else 1)

    @property
    def context_used(self) -> int:
        """Token ids that the last turn holds in the context: its prompt and its answer."""
        return self._context_used

    def counters(self) -> Counters:
        """Speculation's counts over all answers, the running one included."""
        tally = _Tally()
        tally.add(self._past)
        if self._now is not None:
            tally.add(self._now)
        return Counters(
            tokens=tally.tokens,
            verify_steps=tally.steps,
            accepted_drafts=tally.accepted,
            proposed_drafts=tally.proposed,
            accept_length=accept_length(tally.tokens - tally.prefill, tally.steps),
            draft_length=self._draft_length,
        )

    def stages(self) -> tuple[Stage, ...]:
        """The stages of the start in their order; empty until the engine is up. "start": before the first one. Of an
        engine that was taken over there are none."""
        if self._ready is None or self._ready.past is not None:
            return ()
        marks = [("start", self._begun), *self._stages]
        ends = [time for _, time in marks[1:]] + [self._ready.time]
        spans = [Stage(name, max(0.0, end - begin)) for (name, begin), end in zip(marks, ends, strict=True)]
        return tuple(span for span in spans if span.name != "start" or span.seconds > 0)

    @property
    def ready_s(self) -> float | None:
        """From the spawn to ready, seconds."""
        return None if self._ready is None else max(0.0, self._ready.time - self._begun)
