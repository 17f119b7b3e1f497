"""The protocol between the UI and the engine's worker: commands down, events up, one JSON object a line.

Versioned by `PROTOCOL`. A field that the reader does not know is ignored, so that either side may grow one;
a kind that it does not know is an error that names it. Times are seconds of CLOCK_MONOTONIC, which all
processes of one machine share, read in the worker as close to the engine as can be. Counts are the engine's
own counts of token ids, never of chunks or characters.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from spark_chat.engine.parts import Opening as Opening
from spark_chat.engine.parts import Past as Past
from spark_chat.engine.parts import Person as Person
from spark_chat.engine.parts import Proof as Proof
from spark_chat.engine.parts import Sampling as Sampling
from spark_chat.engine.parts import Timings as Timings
from spark_chat.engine.parts import Turn as Turn
from spark_chat.engine.parts import Usage as Usage

PROTOCOL = 2
MAX_FRAME = 64 * 1024 * 1024
"""Longest frame in bytes, newline included: a 10 MB prompt fits even when every byte is escaped."""

FinishReason = Literal["stop", "length", "abort", "context"]
FailureCode = Literal["load", "died", "overflow", "request", "memory", "protocol", "held"]
"""held: somebody else has the engine."""


class ProtocolError(Exception):
    """A frame that is too long, no JSON, of an unknown kind, or of the wrong shape; the text says which."""


# ------------------------------------------------------------------ commands


class Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag=str.lower):
    """Base of what the UI sends."""


class Load(Command, frozen=True, kw_only=True):
    """Build the engine. Sent once, first. `optimizations`: what was asked for, by name. `args`: engine arguments.

    The rest says who asks and tells two engines apart: `environment` that bears on it, `identity` of the model's
    files, `app` (version), `installed` (where). `linger_s`: seconds that the engine stays once nobody is connected.
    `alone`: it is measured, so that nobody else may share it.
    `aside`: it is small and takes no place: another engine may run beside it, and nobody else finds it.
    """

    protocol: int = PROTOCOL
    engine: str
    model: str
    context: int
    optimizations: dict[str, bool]
    options: dict[str, Any] = {}
    args: dict[str, Any] = {}
    environment: dict[str, str] = {}
    identity: str = ""
    app: str = ""
    installed: str = ""
    program: str = "spark-chat"
    linger_s: float = 0
    alone: bool = False
    aside: bool = False


class Attach(Command, frozen=True, kw_only=True):
    """At the door of a running engine: take it over, or share it, where it is what `load` would build. `fresh`: only an
    engine of its own will do. Ready (with `past`) or Progress follows, or Failed with "refused" in its facts; where
    "lingers" is true in them too, nobody uses the engine, and End makes room."""

    protocol: int = PROTOCOL
    load: Load
    fresh: bool = False


class Status(Command, frozen=True, kw_only=True):
    """At the door: ask for one Standing."""


class End(Command, frozen=True, kw_only=True):
    """At the door: end the engine, where nobody is connected or with `force`. The end of the socket is the answer;
    Failed a refusal."""

    force: bool = False


class Leave(Command, frozen=True, kw_only=True):
    """Go. The engine stays where it lingers or others use it: Left tells. Else this is Shutdown."""


class Generate(Command, frozen=True, kw_only=True):
    """Answer `messages`. `id` is the sender's, unique for the worker's life. With an `opening` the answer is the
    rest of one that was cut off; what comes, and all counts but the prompt's, are of the new part alone."""

    id: str
    messages: list[Turn]
    sampling: Sampling
    thinking: bool = True
    opening: Opening | None = None


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
    """End the engine and the worker; where others use it, only go: Left tells."""


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
    past: Past | None = None
    """None where it was started for this client."""
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
    was_thought: bool = False
    """All `text` of the Deltas before was reasoning: the thought's end came, whose begin the model never wrote."""
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


class Standing(Event, frozen=True, kw_only=True):
    """The engine as it stands. `since`: seconds of the epoch when its start began; `ready_s`: seconds that it has been
    ready, None while it loads; `lingers_s`: seconds until it ends by itself, None while somebody is connected."""

    pid: int
    engine: str
    model: str
    app: str
    protocol: int = PROTOCOL
    since: float
    ready_s: float | None = None
    lingers_s: float | None = None
    people: list[Person] = []
    memory_bytes: int = 0
    time: float


class Left(Event, frozen=True, kw_only=True):
    """This client is gone and the engine stays: `lingers_s` seconds, or as long as `others` use it."""

    lingers_s: float
    others: int = 0
    time: float


AnyCommand = Load | Generate | Abort | Stats | Count | Shutdown | Attach | Status | End | Leave
AnyEvent = Progress | Ready | Started | Delta | Done | Failed | Statistics | Counted | Standing | Left
