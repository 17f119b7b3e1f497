"""A conversation read back from where it was kept: messages into exchanges, with every version. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from spark_chat.chat.conversation import Conversation, Exchange, Gathered, Stage
from spark_chat.meters.numbers import AnswerNumbers

if TYPE_CHECKING:
    from spark_chat.history.message import Conversation as Kept
    from spark_chat.history.message import Message

_ENDINGS = {"done": Stage.DONE, "failed": Stage.FAILED}
_ANSWER = ".answer"


def restored(kept: Kept) -> Conversation:
    """With what was on screen on screen. An answer that a kill cut off is a stopped one; prompts never sent wait."""
    conversation = Conversation(id=kept.id)
    thinking = kept.settings.get("thinking")
    conversation.thinking = thinking if isinstance(thinking, bool) else None
    system = kept.settings.get("system_prompt")
    conversation.system_prompt = system if isinstance(system, str) else None
    conversation.system_name = str(kept.settings.get("system_name", ""))
    messages = kept.all or kept.messages
    answers: dict[str | None, list[Message]] = {}
    for message in messages:
        if message.role == "assistant":
            answers.setdefault(message.parent, []).append(message)
    of_message: dict[str, Exchange] = {}
    made: list[tuple[Message, Exchange]] = []
    for message in messages:
        if message.role == "user":
            found = [_answered(message, answer) for answer in answers.get(message.id, ())] or [_unanswered(message)]
            made += [(message, exchange) for exchange in found]
            of_message |= {_kept_as(exchange): exchange for exchange in found}
    shown = {message.id for message in kept.messages}
    edited = {message.edits for message in messages}
    late = []
    before: Exchange | None = None
    for message, exchange in made:
        if exchange.began or exchange.edits or message.id in edited:
            # A version that nothing answered was kept before it was settled what it follows: what came before it.
            parent = before if message.parent is None else of_message.get(message.parent)
            exchange.parent = parent.id if parent is not None and parent is not exchange else ""
            conversation.plant(exchange)
            before = exchange if exchange.began else before
        elif message.id in shown:
            late.append(exchange)  # what it follows is settled when its turn comes
    for message in sorted(messages, key=lambda message: message.shown or message.created):
        if message.id in of_message and conversation.find(of_message[message.id].id):
            conversation.choose(of_message[message.id])
    way = [of_message[message.id] for message in kept.messages if message.id in of_message]
    last = next((exchange for exchange in reversed(way) if conversation.find(exchange.id)), None)
    if last is not None:
        conversation.turn_to(last)
    for exchange in late:
        conversation.add(exchange)
    return conversation


def _kept_as(exchange: Exchange) -> str:
    return exchange.answer_id if exchange.began else exchange.prompt_id


def _unanswered(prompt: Message) -> Exchange:
    stage = Stage.QUEUED if prompt.state == "queued" else Stage.STOPPED
    return Exchange(id=prompt.id, prompt=prompt.text, stage=stage, edits=prompt.edits or "")


def _answered(prompt: Message, answer: Message) -> Exchange:
    id = answer.id.removesuffix(_ANSWER)
    exchange = Exchange(
        id=id, prompt=prompt.text, model=str(answer.settings.get("model", "")), began=True, prompt_id=prompt.id,
        edits=prompt.edits or "", reason=str(answer.settings.get("reason", "")),
        used={key: value for key, value in answer.settings.items() if key not in ("model", "reason")},
        answer=Gathered(answer.text), reasoning=Gathered(answer.reasoning),
        stage=_ENDINGS.get(answer.state, Stage.STOPPED), numbers=numbers(answer.numbers),
    )  # fmt: skip
    if not answer.id.endswith(_ANSWER):
        exchange.kept_as = answer.id
    parts = answer.numbers.get("earlier")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and (found := numbers(part)) is not None:
            exchange.earlier.append(found)
    return exchange


def numbers(kept: Mapping[str, Any]) -> AnswerNumbers | None:
    """Numbers read back; what another version or another hand wrote is left out. None where there are none."""
    known = {name: value for name, value in kept.items() if name in _FIELDS and _is(_FIELDS[name], value)}
    histogram = known.get("accepted_histogram")
    if histogram is not None:
        known["accepted_histogram"] = tuple(histogram)
    return AnswerNumbers(**known) if known else None


_FIELDS = {field.name: str(field.type) for field in fields(AnswerNumbers)}
_MOST = 1 << 53


def _is(kind: str, value: Any) -> bool:
    """Whether `value`, from JSON, is of a field's type."""
    if value is None:
        return "None" in kind
    if kind.startswith("tuple"):
        return isinstance(value, list) and all(_is("int", item) for item in value)
    if kind.startswith("str"):
        return isinstance(value, str)
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and isinstance(value, bool)
    number = isinstance(value, int) or (kind.startswith("float") and isinstance(value, float))
    return number and math.isfinite(value) and 0 <= value <= _MOST
