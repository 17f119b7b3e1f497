"""One answer of llama.cpp: its chunks -> Deltas, counts and how it ended. Pure; knows no thread and no server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.llama_steps import Counts, Steps
from spark_chat.engine.protocol import Delta, Done, FinishReason, Generate, Timings, Usage
from spark_chat.engine.reasoning import ReasoningSplitter, before

MERGED = 256 * 1024
"""Characters that one Delta holds at most before the next one begins: far below the frame's bound."""


def thinks(command: Generate) -> bool:
    """Whether the template is to let the model think: the rest of an answer that has no thought gets none."""
    return command.thinking if command.opening is None else bool(command.opening.thought)


def request(command: Generate, opened: bool = False) -> dict[str, Any]:
    """The request for llama.cpp's chat completions. `opened`: the template's prompt ends inside a thought."""
    sampling, opening = command.sampling, command.opening
    messages = [{"role": turn.role, "content": turn.content} for turn in command.messages]
    if opening is not None:  # a last turn that is the assistant's is left open, and none of it comes back
        messages.append({"role": "assistant", "content": before(opening.text, opening.thought, opened)})
    body: dict[str, Any] = {
        "messages": messages,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "ignore_eos": sampling.ignore_eos,
        "stream": True,
        "timings_per_token": True,
        "return_progress": True,  # a chunk a prefill batch: an abort is seen there too
        "verbose": True,  # why it stopped, on the last chunk
        "response_fields": ["stop_type", "truncated", "tokens_predicted"],
        "chat_template_kwargs": {"enable_thinking": thinks(command)},
    }
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    return body


@dataclass
class Piece:
    """What one chunk brings for the screen, and when."""

    text: str
    reasoning: str
    counts: Counts
    draft_length: int | None
    time: float
    was_thought: bool = False
    """All text before was reasoning."""


@dataclass
class Answer:
    """Follows one answer. `speculative`: whether speculation is set up; `adaptive`: whether its length changes;
    `opened`: the prompt ends inside a thought, and llama.cpp does not tell the two apart for this template;
    `going_on`: it is the rest of an answer."""

    id: str
    speculative: bool
    adaptive: bool = False
    opened: bool = False
    going_on: bool = False
    steps: Steps = field(default_factory=Steps)
    timings: dict[str, Any] = field(default_factory=dict)
    ended: bool = False
    _finish: FinishReason = "abort"
    _reasoning_ids: int = 0
    _seen_text: bool = False
    _seen_any: bool = False
    _prompt_tokens: int | None = None
    _reading: float | None = None

    def __post_init__(self) -> None:
        self._splitter = ReasoningSplitter(self.opened, self.going_on)

    def take(self, chunk: dict[str, Any], time: float) -> Piece | None:
        """One chunk, in order. Raises EngineFailure where it is an error."""
        if "error" in chunk:
            raise failure(chunk["error"])
        timings = chunk.get("timings")
        if timings:
            self.timings = timings
            self.steps.take(timings)
        progress = chunk.get("prompt_progress")
        if progress:
            self._prompt_tokens = progress.get("total")
            if self._prompt_tokens and not self.steps.ids:
                self._reading = min(1.0, progress.get("processed", 0) / self._prompt_tokens)
                return Piece("", "", self.steps.counts(), None, time)
        choice: dict[str, Any] = next(iter(chunk.get("choices") or ()), {})
        delta = choice.get("delta") or {}
        if delta.get("reasoning_content"):
            self._splitter.told_apart()  # by llama.cpp itself
        thought, text = self._splitter.feed(delta.get("content") or "")
        return self._piece(text, (delta.get("reasoning_content") or "") + thought, time, choice, chunk)

    def rest(self, time: float) -> Piece | None:
        """What was held back as the possible start of a tag, once no more chunks will come."""
        thought, text = self._splitter.end()
        return self._piece(text, thought, time, {}, {}) if thought or text else None

    def _piece(
        self, text: str, reasoning: str, time: float, choice: dict[str, Any], chunk: dict[str, Any]
    ) -> Piece | None:
        recast = self._splitter.recast()
        self._seen_text = self._seen_text and not recast
        if reasoning and not self._reasoning_ids and not self.going_on and not recast:
            reasoning = reasoning.lstrip("\n")
        if reasoning or recast:
            self._reasoning_ids = self.steps.ids
        if text and not self._seen_text:
            self._seen_text = True
            if self._reasoning_ids:
                self._reasoning_ids = self.steps.ids - 1  # what closed the thinking counts to it
        if choice.get("finish_reason"):
            self._end(choice["finish_reason"], chunk.get("__verbose") or {})
        if not text and not reasoning and not recast and (self._seen_any or not self.steps.ids):
            return None  # but the first id is told at once, even where its text is held back
        self._seen_any = True
        draft = self.steps.last_draft if self.adaptive else None
        return Piece(text, reasoning, self.steps.counts(), draft, time, recast)

    def _end(self, reason: str, verbose: dict[str, Any]) -> None:
        self.ended = True
        if reason != "length":
            self._finish = "stop"
        elif verbose.get("truncated"):
            self._finish = "context"
        else:
            self._finish = "length"
            self.steps.end_uncut()
        if self._reasoning_ids and not self._seen_text:
            self._reasoning_ids = self.steps.ids

    def delta(self, pieces: list[Piece]) -> Delta:
        """Several pieces as one Delta, with the counts and the time of the last."""
        last = pieces[-1]
        counts = last.counts
        cached = int(self.timings.get("cache_n", 0))
        ended = max((at for at, piece in enumerate(pieces) if piece.was_thought), default=0)  # pieces before: a thought
        thought = "".join(piece.text + piece.reasoning for piece in pieces[:ended])
        return Delta(
            id=self.id,
            text="".join(piece.text for piece in pieces[ended:]),
            reasoning=thought + "".join(piece.reasoning for piece in pieces[ended:]),
            tokens=counts.tokens,
            verify_steps=counts.steps if self.speculative else None,
            accepted_drafts=counts.accepted if self.speculative else None,
            proposed_drafts=counts.proposed if self.speculative else None,
            draft_length=last.draft_length,
            prompt_tokens=cached + int(self.timings.get("prompt_n", 0)) or None,
            cached_tokens=cached,
            reading=None if counts.tokens else self._reading,
            was_thought=any(piece.was_thought for piece in pieces),
            time=last.time,
        )

    def done(self, time: float, whole_steps: list[int] | None) -> Done:
        """`whole_steps`: the server's own count for this answer (see `Steps.histogram`)."""
        if self.ended and whole_steps:
            self.steps.settle(sum(whole_steps))
        counts = self.steps.counts()
        cached, fresh = int(self.timings.get("cache_n", 0)), int(self.timings.get("prompt_n", 0))
        histogram = self.steps.histogram(whole_steps if self.ended else None) if self.speculative else None
        return Done(
            id=self.id,
            finish=self._finish,
            usage=Usage(
                prompt_tokens=cached + fresh if counts.tokens else self._prompt_tokens or cached + fresh,
                cached_tokens=cached,
                completion_tokens=counts.tokens,
                reasoning_tokens=self._reasoning_ids,
                prefill_tokens=min(1, counts.tokens),
                verify_steps=counts.steps if self.speculative else None,
                accepted_drafts=counts.accepted if self.speculative else None,
                proposed_drafts=counts.proposed if self.speculative else None,
                accepted_histogram=histogram,
            ),
            timings=Timings(
                prefill_s=_seconds(self.timings.get("prompt_ms")),
                decode_s=_seconds(self.timings.get("predicted_ms")),
                engine=self.timings,
            ),
            time=time,
        )


def merged(pieces: list[Piece], first: bool) -> list[list[Piece]]:
    """Pieces that waited together, in groups for one Delta each. The first of an answer stays alone: TTFT counts it."""
    groups: list[list[Piece]] = []
    size = 0
    for index, piece in enumerate(pieces):
        length = len(piece.text) + len(piece.reasoning)
        if not groups or (first and index == 1) or size + length > MERGED:
            groups.append([])
            size = 0
        groups[-1].append(piece)
        size += length
    return groups


def failure(error: Any) -> EngineFailure:
    """llama.cpp's error object -> what happened and what to do."""
    facts = error if isinstance(error, dict) else {"message": str(error)}
    said = str(facts.get("message", ""))
    if facts.get("type") == "exceed_context_size_error":
        tokens, context = int(facts.get("n_prompt_tokens", 0)), int(facts.get("n_ctx", 0))
        return overflow(tokens, context)
    if facts.get("type") == "invalid_request_error":
        return EngineFailure("request", "llama.cpp does not take this request.", said, "Change the prompt or sampling.")
    return EngineFailure("request", "llama.cpp could not answer.", said, "Try again; if it stays, restart the engine.")


def overflow(tokens: int, context: int, at_least: bool = False) -> EngineFailure:
    """A conversation that does not fit. `at_least`: its tokens were not counted, but there are no fewer."""
    least = "at least " if at_least else ""
    return EngineFailure(
        "overflow",
        f"The conversation has {least}{tokens:,} tokens and the context holds {context:,}.",
        f"That is {least}{tokens - context + 1:,} too many: one place is needed for the answer.",
        "Shorten the prompt, or raise engine.context."
        if at_least
        else "Drop the oldest turns, shorten the prompt, or raise engine.context.",
        prompt_tokens=tokens,
        context=context,
        **({"at_least": True} if at_least else {}),
    )


def _seconds(milliseconds: Any) -> float | None:
    return milliseconds / 1000 if isinstance(milliseconds, int | float) else None
