"""What a measurement found, bit by bit: each start of an engine, each answer. The same shapes in the journal on disk.

Times are seconds. `at_s` counts from the measurement's begin, so that drift can be seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from spark_chat.driver.asking import Run
from spark_chat.lab.figures import run_json

Role = Literal["warm-up", "measured", "repeat"]
Ordering = Literal["interleaved", "ordered", "single"]


class Found(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag=str.lower):
    """Base of what is found."""


class Answer(Found, frozen=True, kw_only=True):
    """One answer's numbers, under the names of `meters.definitions`; None has no meaning or is not known.

    `role`: "repeat" are those of the first configuration, asked once more at the end. `text_digest`: of text and
    reasoning, to tell whether two answers are the same; the text itself is not kept. `right`: where it is judged.
    `failure`: what happened, where it came to no end of its own.
    """

    configuration: int
    item: str
    round: int
    role: Role = "measured"
    at_s: float = 0.0
    seed: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    ttft_s: float | None = None
    tpot_ms: float | None = None
    latency_s: float | None = None
    prefill_tok_s: float | None = None
    decode_tok_s: float | None = None
    accept_length: float | None = None
    verify_steps: int | None = None
    accepted_drafts: int | None = None
    proposed_drafts: int | None = None
    accepted_histogram: list[int] | None = None
    finish_reason: str | None = None
    cold: bool = False
    text_digest: str = ""
    given: str | None = None
    right: bool | None = None
    failure: str | None = None
    engine_figures: dict[str, Any] = {}

    @property
    def counts(self) -> bool:
        """Whether its numbers enter the medians: warm, measured, and at its own end."""
        return self.role == "measured" and not self.cold and self.whole

    @property
    def whole(self) -> bool:
        return self.failure is None and self.finish_reason not in ("abort", "failed", None)


class Start(Found, frozen=True, kw_only=True):
    """One start of an engine. `stages`: name -> seconds. `failure`: sentences, where it did not come up."""

    configuration: int
    at_s: float = 0.0
    ready_s: float | None = None
    stages: dict[str, float] = {}
    engine: str = ""
    version: str = ""
    model: str = ""
    context: int | None = None
    facts: dict[str, Any] = {}
    failure: str | None = None


class Visit(Found, frozen=True, kw_only=True):
    """The end of a stay at one configuration: what the badges said, and the memory that was held."""

    configuration: int
    optimizations: dict[str, Any] = {}
    memory_bytes: int | None = None


class Order(Found, frozen=True, kw_only=True):
    """How the configurations take turns."""

    order: Ordering


AnyFound = Answer | Start | Visit | Order


def settled(found: Iterable[AnyFound]) -> Ordering | None:
    """The order in which the configurations take turns, once it is known."""
    return next((item.order for item in found if isinstance(item, Order)), None)


def first_start_s(found: Iterable[AnyFound]) -> float | None:
    """How long the first start that came up took, seconds."""
    return next((item.ready_s for item in found if isinstance(item, Start) and item.ready_s is not None), None)


_decoder: msgspec.json.Decoder[AnyFound] = msgspec.json.Decoder(AnyFound)


def encode(found: Found) -> bytes:
    """One line, without its end."""
    return msgspec.json.encode(found)


def decode(line: bytes) -> AnyFound:
    """What `encode` made. Raises msgspec.MsgspecError."""
    return _decoder.decode(line)


def to_builtins(found: Found) -> dict[str, Any]:
    """As JSON has it."""
    built: dict[str, Any] = msgspec.to_builtins(found)
    return built


def answer_of(run: Run, **about: Any) -> Answer:
    """An `Answer` of what came back; `about`: its other fields."""
    found = run_json(run)
    fields = {name: found[name] for name in Answer.__struct_fields__ if name in found}
    tpot_s = found["tpot_s"]
    digest = hashlib.sha256(f"{run.reasoning}\0{run.text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    failure = None
    if run.failure is not None:
        failure = " ".join(part for part in (run.failure.what, run.failure.why, run.failure.remedy) if part)
    return Answer(
        **fields, **about, tpot_ms=None if tpot_s is None else tpot_s * 1000, text_digest=digest, failure=failure
    )
