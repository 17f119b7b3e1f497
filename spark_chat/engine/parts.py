"""What the protocol's commands and events are made of."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Turn(msgspec.Struct, frozen=True):
    """One turn of the conversation as the model gets it; reasoning of old answers is left out by the sender."""

    role: Literal["system", "user", "assistant"]
    content: str


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """What the answer to the last turn already says: it goes on right behind it. Where there is no `text`, the
    `thought` is not over."""

    text: str = ""
    thought: str = ""


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


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine did before a client took it over: ready for `age_s` seconds, its counts over all answers (token
    ids, `prefill_tokens` of them by prefills), and how long each stage of its start took, seconds. `log`: its file."""

    age_s: float
    turns: int = 0
    tokens: int = 0
    prefill_tokens: int = 0
    verify_steps: int = 0
    accepted_drafts: int = 0
    proposed_drafts: int | None = None
    stages: dict[str, float] = {}
    log: str = ""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Who is connected to an engine: a process of the same user, since when (seconds of the epoch)."""

    program: str
    pid: int
    since: float
