"""The protocol between the UI and the engine's worker: commands down, events up, one JSON object a line.

Versioned by `PROTOCOL`. A field that the reader does not know is ignored, so that either side may grow one;
a kind that it does not know is an error that names it. Times are seconds of CLOCK_MONOTONIC, which all
processes of one machine share, read in the worker as close to the engine as can be. Counts are the engine's
own counts of token ids, never of chunks or characters.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

PROTOCOL = 1
MAX_FRAME = 64 * 1024 * 1024
"""Longest frame in bytes, newline included: a 10 MB prompt fits even when every byte is escaped."""

FinishReason = Literal["stop", "length", "abort", "context"]
FailureCode = Literal["load", "died", "overflow", "request", "memory", "protocol"]


class ProtocolError(Exception):
    """A frame that is too long, no JSON, of an unknown kind, or of the wrong shape; the text says which."""


# ------------------------------------------------------------------ parts


class Turn(msgspec.Struct, frozen=True):
    """One turn of the conversation as the model gets it; reasoning of old answers is left out by the sender."""

    role: Literal["system", "user", "assistant"]
    content: str


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How the next token is picked. `temperature` 0 is greedy. `seed` None lets the engine choose."""

    temperature: float = 0.6
    top_p: float = 0.95
    top_k: int = 20
    max_tokens: int = 2048
    seed: int | None = None
    ignore_eos: bool = False


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine saw of one optimization once it was up.

    `active`: seen at work (True), seen absent (False), or not to be told from here (None).
    `kind`: what runs, where one badge covers several things ("MTP", "n-gram").
    `awaits_draft`: set up as far as can be told now; its first draft, once counted, shows it at work.
    `unavailable`: there is nothing in this model that it could work on, so its absence is no failure.
    `reason`: a sentence, always given where `active` is not True.
    `facts`: what was read to tell, by name; values are JSON.
    """

    active: bool | None
    awaits_draft: bool = False
    unavailable: bool = False
    kind: str = ""
    reason: str = ""
    facts: dict[str, Any] = {}


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Token ids of one answer. `prompt_tokens` counts `cached_tokens` in; `prefill_tokens` are the ids that the
    prefill itself gave (1 where anything was produced). The speculative counts are None without speculation."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int = 0
    prefill_tokens: int = 1
    verify_steps: int | None = None
    accepted_drafts: int | None = None
    proposed_drafts: int | None = None
    accepted_histogram: list[int] | None = None
    """Index = drafts accepted in one verify step; value = steps."""


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """The engine's own clock, seconds and its own figures (`engine`), shown beside ours in the proof panel."""

    prefill_s: float | None = None
    decode_s: float | None = None
    engine: dict[str, Any] = {}


# ------------------------------------------------------------------ commands


class Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag=str.lower):
    """Base of what the UI sends."""


class Load(Command, frozen=True, kw_only=True):
    """Build the engine. Sent once, first. `optimizations`: what was asked for, by name. `args`: engine arguments."""

    protocol: int = PROTOCOL
    engine: str
    model: str
    context: int
    optimizations: dict[str, bool]
    options: dict[str, Any] = {}
    args: dict[str, Any] = {}


class Generate(Command, frozen=True, kw_only=True):
    """Answer `messages`. `id` is the sender's, unique for the worker's life."""

    id: str
    messages: list[Turn]
    sampling: Sampling
    thinking: bool = True


class Abort(Command, frozen=True, kw_only=True):
    """Stop answering `id`; its Done comes with finish "abort". An unknown id is no error: it may just have ended."""

    id: str


class Stats(Command, frozen=True, kw_only=True):
    """Ask for one Statistics event."""


class Count(Command, frozen=True, kw_only=True):
    """Ask for one Counted event: how many token ids `messages` would be as a prompt, and each of `texts` by itself.
    Nothing is computed by the model."""

    id: str
    messages: list[Turn]
    texts: list[str] = []
    thinking: bool = True


class Shutdown(Command, frozen=True, kw_only=True):
    """End the engine and the worker."""


# ------------------------------------------------------------------ events


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag=str.lower):
    """Base of what the worker sends."""


class Progress(Event, frozen=True, kw_only=True):
    """A stage of the start. `fraction` 0..1, or None where it can't be known. `text` is for a person."""

    stage: str
    fraction: float | None = None
    text: str = ""
    time: float


class Ready(Event, frozen=True, kw_only=True):
    """The engine is up. `proofs` by optimization name; `facts`: what is known of the model and the engine."""

    protocol: int = PROTOCOL
    engine: str
    version: str
    model: str
    context: int
    proofs: dict[str, Proof]
    facts: dict[str, Any] = {}
    cold_turns: int = 1
    """How many first turns after this start are not yet at speed."""
    time: float


class Started(Event, frozen=True, kw_only=True):
    """The engine was asked for `id` at `time`: TTFT counts from here."""

    id: str
    time: float


class Delta(Event, frozen=True, kw_only=True):
    """What came since the last Delta (`text`, `reasoning`) and the counts so far (all the others, cumulative)."""

    id: str
    text: str = ""
    reasoning: str = ""
    tokens: int
    verify_steps: int | None = None
    accepted_drafts: int | None = None
    proposed_drafts: int | None = None
    draft_length: int | None = None
    """Drafts a step in use now, where the engine changes it as it goes."""
    prompt_tokens: int | None = None
    """Of the whole prompt, cached ones counted in, where the engine knows them before the end: so that the context
    in use is right while an answer runs, and after one that failed."""
    cached_tokens: int | None = None
    reading: float | None = None
    """How much of the prompt was read, 0..1, while there is no token yet; where the engine tells."""
    time: float


class Done(Event, frozen=True, kw_only=True):
    """The answer `id` ended."""

    id: str
    finish: FinishReason
    usage: Usage
    timings: Timings = Timings()
    time: float


class Failed(Event, frozen=True, kw_only=True):
    """`id` None: the engine itself failed. `what` happened, `why`, and what to `remedy`: a sentence each.
    `facts` has the figures ("prompt_tokens", "context" for code "overflow")."""

    id: str | None = None
    code: FailureCode
    what: str
    why: str = ""
    remedy: str = ""
    facts: dict[str, Any] = {}
    time: float


class Statistics(Event, frozen=True, kw_only=True):
    """Bytes held by the worker and its children, and of the GPU where it can be read."""

    memory_bytes: int
    gpu_bytes: int | None = None
    facts: dict[str, Any] = {}
    time: float


class Counted(Event, frozen=True, kw_only=True):
    """The answer to Count `id`. `prompt_tokens` None, and no `text_tokens`: the engine could not count."""

    id: str
    prompt_tokens: int | None = None
    text_tokens: list[int] = []
    time: float


AnyCommand = Load | Generate | Abort | Stats | Count | Shutdown
AnyEvent = Progress | Ready | Started | Delta | Done | Failed | Statistics | Counted

_encoder = msgspec.json.Encoder()
_commands: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_events: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode(message: Command | Event) -> bytes:
    """One frame, newline included. Lone surrogates, which JSON in UTF-8 cannot carry, become U+FFFD.

    Raises ProtocolError where the frame is longer than MAX_FRAME.
    """
    try:
        frame = _encoder.encode(message)
    except UnicodeEncodeError:
        frame = _encoder.encode(_without_surrogates(msgspec.to_builtins(message)))
    if len(frame) + 1 > MAX_FRAME:
        raise ProtocolError(f"A message of {len(frame):,} bytes is over the limit of {MAX_FRAME:,} bytes.")
    return frame + b"\n"


def decode_command(frame: bytes) -> AnyCommand:
    """The command in one frame. Raises ProtocolError."""
    command: AnyCommand = _decode(_commands, frame)
    return command


def decode_event(frame: bytes) -> AnyEvent:
    """The event in one frame. Raises ProtocolError."""
    event: AnyEvent = _decode(_events, frame)
    return event


def _decode(decoder: msgspec.json.Decoder[Any], frame: bytes) -> Any:
    try:
        return decoder.decode(frame)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"A message could not be read: {error}") from error


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value
