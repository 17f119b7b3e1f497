"""The numbers of one answer: its events in, `AnswerNumbers` out. No clock but the events' own.

`definitions.py` says what each number means; the formulas here are those, and nothing else.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from spark_chat.engine.protocol import AnyEvent, Delta, Done, Failed, Started, Timings, Usage
from spark_chat.meters.numbers import AnswerNumbers

LEAST_PREFILL = 16
"""Prompt tokens to compute under which their rate says nothing: it is the cost of one call then."""

WINDOW_S = 1.0
"""Width of the live window, seconds."""


@dataclass(frozen=True)
class _Sample:
    """A chunk that held at least one token: when it came, and the counts by then."""

    time: float
    tokens: int
    verify_steps: int | None


class AnswerMeter:
    """Feed it the events of one answer in order; `numbers()` may be asked at any time.

    `submitted`: when the person sent the prompt, seconds of the events' clock. `cold`: this is one of the first
    turns after a start.
    """

    def __init__(self, submitted: float, cold: bool = False) -> None:
        self._submitted = submitted
        self._cold = cold
        self._started: float | None = None
        self._first: _Sample | None = None
        self._last: _Sample | None = None
        self._chunks = 0
        self._window: deque[_Sample] = deque()
        self._delta: Delta | None = None
        self._reasoning_from: float | None = None
        self._reasoning_to: float | None = None
        self._reasoning_tokens = 0
        self._answering = False
        self._prompt_tokens: int | None = None
        self._cached_tokens: int | None = None
        self._usage: Usage | None = None
        self._timings = Timings()
        self._finish: str | None = None

    def feed(self, event: AnyEvent) -> None:
        """Take the next event; kinds that say nothing of an answer are passed over."""
        if isinstance(event, Started):
            self._started = event.time
        elif isinstance(event, Delta):
            self._take_delta(event)
        elif isinstance(event, Done):
            self._usage, self._timings, self._finish = event.usage, event.timings, event.finish
            if event.usage.completion_tokens > (self._last.tokens if self._last else 0):
                # Ids that no chunk showed, such as one that ends the text, were produced by now.
                self._take_sample(_Sample(event.time, event.usage.completion_tokens, event.usage.verify_steps))
        elif isinstance(event, Failed):
            self._finish = "failed"

    def _take_delta(self, event: Delta) -> None:
        before = self._last.tokens if self._last else 0
        self._delta = event
        if event.was_thought and self._first is not None:
            self._answering, self._reasoning_tokens = False, before
            self._reasoning_from = self._first.time
            self._reasoning_to = event.time
        if event.prompt_tokens is not None:
            self._prompt_tokens, self._cached_tokens = event.prompt_tokens, event.cached_tokens
        if event.tokens > before:
            self._take_sample(_Sample(event.time, event.tokens, event.verify_steps))
        if event.reasoning and not self._answering:
            if self._reasoning_from is None:
                self._reasoning_from = event.time
            self._reasoning_to = event.time
        if event.text and not self._answering and event.text.strip():
            self._answering = True
            if self._reasoning_from is not None:
                self._reasoning_to = event.time
        if event.reasoning and not event.text:
            self._reasoning_tokens += max(0, event.tokens - before)

    def _take_sample(self, sample: _Sample) -> None:
        self._chunks += 1
        if self._first is None:
            self._first = sample
        self._last = sample
        self._window.append(sample)
        # The newest sample that is at least a window old is the one to measure from: it stays, older ones go.
        while len(self._window) > 2 and self._window[1].time <= sample.time - WINDOW_S:
            self._window.popleft()

    def numbers(self) -> AnswerNumbers:
        """The numbers so far; the final ones once Done or Failed was fed."""
        usage = self._usage
        tokens = usage.completion_tokens if usage else (self._last.tokens if self._last else 0)
        decode = self._decode(tokens)
        steps = self._count("verify_steps")
        prompt = usage.prompt_tokens if usage else self._prompt_tokens
        cached = usage.cached_tokens if usage else self._cached_tokens
        ttft = self._ttft()
        running = self._finish is None
        return AnswerNumbers(
            tokens=tokens,
            reasoning_tokens=(usage.reasoning_tokens if usage else 0) or min(self._reasoning_tokens, tokens),
            reasoning_s=self._reasoning_s(),
            prompt_tokens=prompt,
            cached_tokens=cached,
            waited_s=None if self._started is None else max(0.0, self._started - self._submitted),
            ttft_s=ttft,
            prefill_tok_s=self._prefill(prompt, cached, ttft),
            decode_tok_s=decode,
            live_tok_s=self._live() if running else None,
            tpot_ms=None if decode is None else 1000.0 / decode,
            latency_s=self._latency(),
            verify_steps=steps,
            accepted_drafts=self._count("accepted_drafts"),
            proposed_drafts=self._count("proposed_drafts"),
            accept_length=accept_length(tokens - self._prefill_gave(tokens), steps),
            live_accept_length=self._live_accept() if running else None,
            draft_length=self._delta.draft_length if self._delta else None,
            accepted_histogram=(
                tuple(usage.accepted_histogram) if usage and usage.accepted_histogram is not None else None
            ),
            finish=self._finish,
            cold=self._cold,
        )

    def _count(self, name: str) -> int | None:
        """A speculative count: the final one where the engine gave it, else the last that came."""
        for source in (self._usage, self._delta):
            value: int | None = getattr(source, name, None)
            if value is not None:
                return value
        return None

    def _ttft(self) -> float | None:
        if self._started is None or self._first is None:
            return None
        return max(0.0, self._first.time - self._started)

    def _latency(self) -> float | None:
        if self._started is None or self._last is None:
            return None
        return max(0.0, self._last.time - self._started)

    def _decode(self, tokens: int) -> float | None:
        if self._chunks < 2 or self._first is None or self._last is None:
            return None
        return rate(tokens - self._first.tokens, self._last.time - self._first.time)

    def _live(self) -> float | None:
        if len(self._window) < 2:
            return None
        old, new = self._window[0], self._window[-1]
        return rate(new.tokens - old.tokens, new.time - old.time)

    def _live_accept(self) -> float | None:
        if len(self._window) < 2:
            return None
        old, new = self._window[0], self._window[-1]
        if new.verify_steps is None:
            return None
        return accept_length(new.tokens - old.tokens, new.verify_steps - (old.verify_steps or 0))

    def _prefill(self, prompt: int | None, cached: int | None, ttft: float | None) -> float | None:
        if prompt is None or prompt - (cached or 0) < LEAST_PREFILL:
            return None
        seconds = self._timings.prefill_s if self._timings.prefill_s is not None else ttft
        return None if seconds is None else rate(prompt - (cached or 0), seconds)

    def _prefill_gave(self, tokens: int) -> int:
        """Ids that came from the prefill itself: the engine's word at the end, 1 until then."""
        return min(tokens, self._usage.prefill_tokens if self._usage else 1)

    def _reasoning_s(self) -> float | None:
        if self._reasoning_from is None or self._reasoning_to is None:
            return None
        return max(0.0, self._reasoning_to - self._reasoning_from)


def rate(count: int, seconds: float) -> float | None:
    """`count` a second; None where either is not above zero, for then it has no meaning."""
    return count / seconds if count > 0 and seconds > 0 else None


def accept_length(emitted: int, steps: int | None) -> float | None:
    """Ids emitted a verify step; None without speculation and before the first step."""
    return emitted / steps if steps and steps > 0 and emitted >= 0 else None
