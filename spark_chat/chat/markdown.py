"""A conversation as a Markdown file that reads well anywhere: prompts, answers, reasoning, and the numbers of each.

Before each part stands a comment that no reader shows, `<!-- spark-chat answer {...} -->`, with what reading it back
needs (`markdown_reading`). The way through the conversation is the one last seen; other versions of a prompt or an
answer, drafts and bytes that no terminal should see are in the JSON alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from spark_chat.chat.restoring import numbers as numbers_of
from spark_chat.history.message import Conversation, Message
from spark_chat.meters import units
from spark_chat.meters.line import answer_line, known_parts
from spark_chat.moment import minute
from spark_chat.text.clean import clean

MARK = "<!-- spark-chat "
LOOKS_LIKE_MARK = re.compile(r"^(\\*)(?=<!-- spark-chat )", re.M)
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_ENDED = {"stopped": "stopped", "failed": "failed", "partial": "cut off", "queued": "not sent yet"}


@dataclass(frozen=True)
class Part:
    """One part of the file: its comment, what stands above it, and its text."""

    kind: str
    facts: dict[str, Any]
    head: str
    text: str

    def __str__(self) -> str:
        facts = json.dumps(self.facts).replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
        below = f"\n\n{self.text}\n" if self.text else "\n"
        return f"{MARK}{self.kind} {facts} -->\n{self.head}{below}"


def markdown(conversation: Conversation) -> str:
    """The file's text. Of control characters only newline and tab are in it."""
    return "\n".join(str(part) for part in _parts(conversation))


def _parts(conversation: Conversation) -> Iterator[Part]:
    title = _line(conversation.title) or "Conversation"
    facts = {"id": conversation.id, "created": conversation.created, "updated": conversation.updated,
             "title": clean(conversation.title), "settings": conversation.settings}  # fmt: skip
    yield Part("conversation", facts, f"# {_escaped(title)}", _about(conversation))
    for message in conversation.messages:
        yield from _message(message)


def _about(conversation: Conversation) -> str:
    models = dict.fromkeys(str(message.settings.get("model") or "") for message in conversation.messages)
    said = [minute(conversation.created), *(_escaped(_line(model)) for model in models if model)]
    others = len(conversation.all) - len(conversation.messages)
    if others > 0:
        said.append(f"{others} message{'' if others == 1 else 's'} of other versions left out")
    return " · ".join(said)


def _message(message: Message) -> Iterator[Part]:
    facts: dict[str, Any] = {"id": message.id, "parent": message.parent, "created": message.created,
                             "state": message.state}  # fmt: skip
    head = {"user": "## You", "system": "## System prompt"}.get(message.role, "")
    if not head:
        head = f"## {_escaped(_line(str(message.settings.get('model') or 'Answer')))}"
    if message.role != "assistant":
        ended = f", {_ENDED[message.state]}" if message.state in _ENDED else ""
        yield Part(message.role, facts, f"{head} · {minute(message.created)}{ended}", _text(message.text, facts))
        return
    facts["settings"] = message.settings
    text = _text(message.text, facts)
    yield Part("answer", facts, head, text)
    if message.reasoning:
        yield Part("reasoning", *_quoted(message))
    yield Part("numbers", message.numbers, f"*{_escaped(_numbers(message))}*", "")


def _quoted(message: Message) -> tuple[dict[str, Any], str, str]:
    """The reasoning as a quotation, so that nothing in it reaches out."""
    text = clean(message.reasoning)
    took = message.numbers.get("reasoning_tokens")
    head = f"Reasoning{f', {took:,} tok' if isinstance(took, int) and took else ''}:"
    return {"lines": text.count("\n") + 1}, head, "\n".join(f"> {line}".rstrip(" ") if not line.strip() else f"> {line}"
                                                            for line in text.split("\n"))  # fmt: skip


def _numbers(message: Message) -> str:
    """The numbers under an answer, and how it ended where not by itself."""
    found = numbers_of(message.numbers)
    ended = _ENDED.get(message.state, "")
    if found is None:
        return ended or "no numbers are known"
    if ended:
        return " · ".join([*known_parts(replace(found, finish=None)), ended, *_reason(message)])
    thought = f" · reasoned {units.seconds(found.reasoning_s)}" if found.reasoning_s is not None else ""
    return answer_line(found, " · ") + thought


def _reason(message: Message) -> list[str]:
    reason = str(message.settings.get("reason") or "").rstrip(".")
    return [_line(reason)] if reason else []


def _text(raw: str, facts: dict[str, Any]) -> str:
    """A message's text. A fence that it leaves open is closed, else the rest of the file would be code."""
    text = LOOKS_LIKE_MARK.sub(r"\1\\", clean(raw))
    fence = ""
    for line in text.split("\n"):
        if fence:
            bare = line.strip()
            fence = "" if len(bare) >= len(fence) and set(bare) == {fence[0]} else fence
        elif found := _FENCE.match(line):
            fence = found[1]
    if fence:
        facts["closed"] = fence
        text += f"\n{fence}"
    return text


def _line(text: str) -> str:
    return " ".join(clean(text).split())


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)
