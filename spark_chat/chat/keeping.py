"""Between a conversation and the journal: an exchange is two messages there, a prompt and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_chat.chat.conversation import Conversation, Exchange, Gathered, Stage
from spark_chat.meters.numbers import AnswerNumbers

if TYPE_CHECKING:
    from spark_chat.history.journal import Journal
    from spark_chat.history.message import Conversation as Kept
    from spark_chat.history.message import State


def answer_id(exchange: Exchange) -> str:
    """The answer's id in the journal; the prompt's is the exchange's."""
    return f"{exchange.id}.answer"


class Keeping:
    """Writes a sitting down. No call waits for the disk or raises."""

    def __init__(self, journal: Journal, conversation: Conversation) -> None:
        self._journal = journal
        self._conversation = conversation
        self._started: set[str] = set()

    def begin(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def asked(self, exchange: Exchange) -> None:
        self._journal.prompt(self._conversation.id, exchange.id, exchange.prompt)

    def started(self, exchange: Exchange) -> None:
        self._started.add(exchange.id)
        self._journal.answer_started(self._conversation.id, answer_id(exchange), exchange.id)

    def piece(self, exchange: Exchange, text: str, reasoning: str) -> None:
        self._journal.append(answer_id(exchange), text, reasoning)

    def ended(self, exchange: Exchange) -> None:
        states: dict[Stage, State] = {Stage.DONE: "done", Stage.STOPPED: "stopped"}
        state = states.get(exchange.stage, "failed")
        if exchange.id in self._started:
            self._started.discard(exchange.id)
            self._journal.finish(answer_id(exchange), state, exchange.numbers, _about(exchange))
        else:
            self._journal.finish(exchange.id, state, conversation=self._conversation.id)

    def draft(self, text: str) -> None:
        """What stands in the composer."""
        self._journal.draft(self._conversation.id, text)


def _about(exchange: Exchange) -> dict[str, str]:
    about = {"model": exchange.model}
    return {**about, "reason": exchange.reason} if exchange.reason else about


def restored(kept: Kept) -> Conversation:
    """A conversation read back. An answer that a kill cut off is a stopped one; prompts never sent wait again."""
    conversation = Conversation(id=kept.id)
    asked: dict[str, Exchange] = {}
    for message in kept.messages:
        if message.role == "user":
            exchange = conversation.add(Exchange(id=message.id, prompt=message.text))
            exchange.stage = Stage.QUEUED if message.state == "queued" else Stage.STOPPED
            asked[message.id] = exchange
        elif message.role == "assistant" and message.parent in asked:
            exchange = asked[message.parent]
            exchange.answer, exchange.reasoning = Gathered(message.text), Gathered(message.reasoning)
            stages = {"done": Stage.DONE, "failed": Stage.FAILED}
            exchange.stage, exchange.began = stages.get(message.state, Stage.STOPPED), True
            exchange.model = str(message.settings.get("model", ""))
            exchange.reason = str(message.settings.get("reason", ""))
            exchange.numbers = numbers(message.numbers)
    return conversation


def numbers(kept: dict[str, object]) -> AnswerNumbers | None:
    """Numbers read back; fields of another version are left out. None where there are none."""
    known = {name: value for name, value in kept.items() if name in AnswerNumbers.__dataclass_fields__}
    histogram = known.get("accepted_histogram")
    if isinstance(histogram, list):
        known["accepted_histogram"] = tuple(histogram)
    return AnswerNumbers(**known) if known else None  # type: ignore[arg-type]
