"""Between a conversation and the journal: an exchange is two messages there, a prompt and its answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from spark_chat.chat.conversation import Conversation, Exchange, Stage

if TYPE_CHECKING:
    from spark_chat.history.journal import Journal
    from spark_chat.history.message import State


class Keeping:
    """Writes a sitting down. No call waits for the disk or raises."""

    def __init__(self, journal: Journal, conversation: Conversation) -> None:
        from spark_chat.history.shelf import Shelf

        self._journal, self._shelf = journal, Shelf(journal)
        self._conversation = conversation
        self._home: dict[str, Conversation] = {}
        """Of answers that began: the conversation that they belong to."""

    def begin(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def asked(self, exchange: Exchange) -> None:
        if exchange.owns_prompt:
            after = self._settled(self._conversation, exchange)
            self._journal.prompt(self._conversation.id, exchange.id, exchange.prompt, after, exchange.edits or None)

    def started(self, exchange: Exchange) -> None:
        conversation = self._home[exchange.id] = self._conversation
        if exchange.going_on:
            base = len(str(exchange.answer)), len(str(exchange.reasoning))
            self._journal.goes_on(conversation.id, exchange.answer_id, base)
        else:
            after = self._before(conversation, exchange)
            shown = conversation.shows(exchange)
            self._journal.answer_started(conversation.id, exchange.answer_id, exchange.prompt_id, after, shown)

    def piece(self, exchange: Exchange, text: str, reasoning: str) -> None:
        self._journal.append(exchange.answer_id, text, reasoning)

    def recast(self, exchange: Exchange) -> None:
        self._journal.recast(exchange.answer_id)

    def ended(self, exchange: Exchange) -> None:
        states: dict[Stage, State] = {Stage.DONE: "done", Stage.STOPPED: "stopped"}
        state = states.get(exchange.stage, "failed")
        if self._home.pop(exchange.id, None) is not None:
            self._journal.finish(exchange.answer_id, state, _figures(exchange), _about(exchange))
        elif exchange.owns_prompt and not exchange.began:
            self._journal.finish(exchange.id, state, conversation=self._conversation.id)

    def draft(self, text: str) -> None:
        """What stands in the composer."""
        self._journal.draft(self._conversation.id, text)

    def shown(self, chosen: Exchange) -> None:
        """The person stepped to another version, `chosen`."""
        talk = self._conversation
        placed = (item for item in reversed(talk.exchanges) if item.began or item.edits or len(talk.prompts(item)) > 1)
        last = next(placed, None)  # a prompt that nothing answered and that has no other version is wherever the end is
        if last is not None:
            self._shelf.show(talk.id, _message(last), _message(chosen))

    def set_up(self, conversation: Conversation) -> None:
        """The conversation's own settings changed."""
        own: dict[str, object] = {} if conversation.thinking is None else {"thinking": conversation.thinking}
        if conversation.system_prompt is not None:
            own |= {"system_prompt": conversation.system_prompt, "system_name": conversation.system_name}
        self._shelf.settings(conversation.id, own)

    def fork(self, conversation: Conversation, title: str, copies: list[tuple[Exchange, Exchange]]) -> None:
        """`conversation` is a copy of a part of the one at hand; `copies` are (old, new), those that were answered."""
        ids = []
        for old, new in copies:
            ids += [(old.prompt_id, new.prompt_id), (old.answer_id, new.answer_id)]
        self._shelf.fork(self._conversation.id, conversation.id, title, ids)

    @staticmethod
    def _settled(conversation: Conversation, exchange: Exchange) -> str | None:
        """Id of the last answer before it; None where one that waits comes between."""
        earlier = reversed(conversation.path_to(exchange)[:-1])
        last = next((item for item in earlier if item.began or item.stage is Stage.QUEUED), None)
        return None if last is not None and not last.began else Keeping._before(conversation, exchange)

    @staticmethod
    def _before(conversation: Conversation, exchange: Exchange) -> str:
        """Id of the last answer before it; "" for none."""
        earlier = conversation.path_to(exchange)[:-1]
        return next((item.answer_id for item in reversed(earlier) if item.began), "")


def _message(exchange: Exchange) -> str:
    return exchange.answer_id if exchange.began else exchange.prompt_id


def _figures(exchange: Exchange) -> dict[str, object]:
    figures: dict[str, object] = asdict(exchange.numbers) if exchange.numbers is not None else {}
    return {**figures, "earlier": [asdict(part) for part in exchange.earlier]} if exchange.earlier else figures


def _about(exchange: Exchange) -> dict[str, object]:
    about = {**exchange.used, "model": exchange.model}
    return {**about, "reason": exchange.reason} if exchange.reason else about
