"""One answer of SGLang: its chunks -> Deltas, counts and how it ended. Pure; knows no process and no loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_chat.engine import sglang_request
from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.protocol import Delta, Done, FinishReason, Generate, Timings, Usage
from spark_chat.engine.reasoning import ReasoningSplitter

LOG_SAYS_MORE = "The end of the engine's log says more: /log in the chat, or `spark-chat logs`."


@dataclass
class Answer:
    """Follows one answer, which SGLang knows as `rid`. `prompt`: its tokens; `room`: tokens that it was let have.
    `counters`: the plugin's; `adaptive`: whether the drafts of a step change as it goes, so that no product of steps
    and drafts is their count."""

    command: Generate
    rid: str
    prompt: int
    room: int
    counters: Any
    splitter: ReasoningSplitter
    adaptive: bool = False
    asked: float = 0.0
    """When it was asked, and when its first tokens came; seconds of time.monotonic()."""
    began: float = 0.0
    tokens: int = 0
    reasoning_tokens: int = 0
    meta: Mapping[str, Any] = field(default_factory=dict)

    def begin(self, now: float) -> None:
        self.asked = self.began = now

    def take(self, chunk: Mapping[str, Any], steps: int | None, now: float) -> Delta:
        """What a chunk brings. `steps`: drafts of a verify step now; None without speculation."""
        self.meta = meta = chunk["meta_info"]
        self.tokens = int(meta.get("completion_tokens") or self.tokens)
        self.began = now if self.tokens and self.began == self.asked else self.began
        was_thinking = self.splitter.thinking
        thought, answer = self.splitter.feed(chunk.get("text") or "")
        if meta.get("finish_reason"):
            rest = self.splitter.end()
            thought, answer = thought + rest[0], answer + rest[1]
        recast = self.splitter.recast()
        self.reasoning_tokens = self.tokens if was_thinking or recast else self.reasoning_tokens
        verify, accepted, _ = self._counted(steps)
        return Delta(
            id=self.command.id, text=answer, reasoning=thought, tokens=self.tokens, verify_steps=verify,
            accepted_drafts=accepted, proposed_drafts=self._proposed(verify, steps), draft_length=steps,
            prompt_tokens=meta.get("prompt_tokens"), cached_tokens=meta.get("cached_tokens"), time=now,
            was_thought=recast,
        )  # fmt: skip

    def done(self, steps: int | None, now: float) -> Done:
        """Its end. EngineFailure: SGLang gave it up."""
        meta = self.meta
        verify, accepted, histogram = self._counted(steps)
        return Done(
            id=self.command.id,
            finish=self._finish(),
            usage=Usage(
                prompt_tokens=int(meta.get("prompt_tokens") or self.prompt),
                cached_tokens=int(meta.get("cached_tokens") or 0),
                completion_tokens=self.tokens,
                reasoning_tokens=self.reasoning_tokens,
                prefill_tokens=min(1, self.tokens),
                verify_steps=verify,
                accepted_drafts=accepted,
                proposed_drafts=self._proposed(verify, steps),
                accepted_histogram=histogram,
            ),
            timings=Timings(
                prefill_s=self.began - self.asked,
                engine={
                    key: value for key, value in meta.items()
                    if key.startswith("spec_") or key in ("e2e_latency", "finish_reason", "num_retractions")
                },
            ),
            time=now,
        )  # fmt: skip

    def _finish(self) -> FinishReason:
        reason = self.meta.get("finish_reason") or {}
        kind = reason.get("type")
        if kind == "abort" and reason.get("status_code") is not None:
            raise EngineFailure(
                "request", "SGLang gave up on the answer.", str(reason.get("message") or ""), LOG_SAYS_MORE
            )
        if kind == "length":
            return "context" if self.room < self.command.sampling.max_tokens else "length"
        return "abort" if kind == "abort" else "stop"

    def _counted(self, steps: int | None) -> tuple[int | None, int | None, list[int] | None]:
        """Verify steps, accepted drafts and how many steps accepted 0, 1, ... of them, at the last token."""
        counts = self.counters.at(self.rid, self.tokens)
        if counts is None:
            none_yet = None if steps is None else 0
            return none_yet, none_yet, None
        accepted = sglang_request.kept(self.tokens, counts.verify_steps, counts.accepted_drafts)
        return counts.verify_steps, accepted, list(counts.histogram) if counts.histogram else None

    def _proposed(self, verify: int | None, steps: int | None) -> int | None:
        return None if verify is None or self.adaptive or steps is None else verify * steps
