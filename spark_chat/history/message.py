"""What history hands out: messages, a conversation, and what the next start offers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]
State = Literal["queued", "partial", "done", "stopped", "failed"]
"""queued: a prompt that waits to be sent. partial: an answer that is coming, or was when its chat was killed.
stopped: a prompt taken back, or an answer that the person or a kill ended."""


@dataclass(frozen=True)
class Message:
    """One message, its text raw. `parent` is the message it follows. `created` is in Unix seconds."""

    id: str
    parent: str | None
    role: Role
    text: str
    reasoning: str
    state: State
    numbers: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    created: float = 0.0
    edits: str | None = None
    """Of a prompt: the one that it is another version of."""
    shown: float | None = None
    """When it was last chosen among its versions, in Unix seconds; None where it never was."""


@dataclass(frozen=True)
class Conversation:
    """`messages` in reading order: the way to the leaf, then prompts that were never sent or
    failed before an answer began. `all`: every message in the order they came, other versions too. `place`: where the
    person had scrolled to; empty for the end."""

    id: str
    title: str
    created: float
    updated: float
    messages: tuple[Message, ...]
    draft: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    all: tuple[Message, ...] = ()
    place: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Offer:
    """The conversation that a start can go on with. `killed`: its chat ended without a goodbye. `partial`: the last
    answer was cut off. `queued`: prompts that were never sent. `draft`: what stood unsent in the composer last, and
    `draft_in` the conversation that keeps it: this one, or a later one that nothing was asked in."""

    conversation: str
    title: str
    updated: float
    messages: int
    killed: bool
    partial: bool
    queued: int
    draft: str
    draft_in: str


@dataclass(frozen=True)
class Listed:
    """A kept conversation in a list. `updated`: used last, in Unix seconds. `held`: another chat that runs now has it
    open."""

    conversation: str
    title: str
    updated: float
    pinned: bool = False
    held: bool = False


@dataclass(frozen=True)
class Page:
    """Some of the conversations in their order: `rows` from number `first` on, of `total`."""

    rows: tuple[Listed, ...]
    first: int
    total: int


@dataclass(frozen=True)
class Hit:
    """A conversation that has what was searched. `message`: its newest message with it, "" where only the title has.
    `text`: a line of that message around the words, cut into pieces, each with whether it is one of the words.
    `count`: messages with it, as far as was looked."""

    listed: Listed
    message: str
    role: str
    text: tuple[tuple[str, bool], ...]
    count: int


def as_json(value: object) -> str:
    """A dataclass or a mapping as JSON; what JSON does not know is kept as its text."""
    if value is None:
        return "{}"
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return json.dumps(value, default=str)
