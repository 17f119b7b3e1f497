"""Other versions of what was asked and answered: nothing that was there is lost by them. No widget, no I/O."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING
from uuid import uuid4

from spark_chat.chat.conversation import Conversation, Exchange, Gathered, Stage

if TYPE_CHECKING:
    from spark_chat.chat.session import Session


class Versions:
    """What a person does to one exchange of a sitting."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def _conversation(self) -> Conversation:
        return self._session.conversation

    def edit(self, exchange: Exchange, text: str) -> Exchange:
        """Ask `text` in the place of `exchange`'s prompt. What runs or waits behind that place is stopped."""
        new = Exchange(id=uuid4().hex, prompt=text, edits=exchange.prompt_id)
        self._put(new, exchange)
        return new

    def again(self, exchange: Exchange) -> Exchange:
        """Ask `exchange`'s prompt once more; what was answered to it stays as another version. One that waits is left
        to wait."""
        if exchange.stage is Stage.QUEUED:
            return exchange
        new = Exchange(id=uuid4().hex, prompt=exchange.prompt)
        if exchange.began:
            new.prompt_id, new.edits = exchange.prompt_id, exchange.edits
        else:  # a prompt that nothing answered is kept as such: this is a prompt of its own
            new.edits = exchange.prompt_id
        self._put(new, exchange)
        return new

    def _put(self, new: Exchange, old: Exchange) -> None:
        session, conversation = self._session, self._conversation
        session.leave_way({item.id for item in conversation.path_to(old)[:-1]})
        place = conversation.put_beside(new, old)
        if session.keeper:
            session.keeper.asked(new)
        session.view.turned(conversation, place)
        session.wait(new)

    def go_on(self, exchange: Exchange) -> str:
        """Have an answer that was cut off continued. A sentence where it can't be; else ""."""
        if exchange.stage is Stage.ANSWERING or exchange.going_on:
            return "It is still being answered."
        if not exchange.cut:
            return "The model ended this answer itself: there is nothing to continue." if exchange.began else (
                "There is no answer to continue yet."
            )  # fmt: skip
        if exchange is not self._conversation.exchanges[-1]:
            return "Only the last answer can be continued: what follows was said to it as it is. /fork goes on from it."
        exchange.go_on()
        self._session.view.turned(self._conversation, len(self._conversation) - 1)
        self._session.wait(exchange)
        return ""

    def step(self, exchange: Exchange, by: int, *, answers: bool) -> Exchange | None:
        """Show the version `by` further of the answer, or of the prompt, and what followed it last. None where there
        is none."""
        conversation = self._conversation
        chosen = conversation.beside(exchange, by, answers=answers)
        if chosen is None:
            return None
        self.show(chosen)
        return chosen

    def show(self, chosen: Exchange) -> None:
        """Have this version on screen, and what followed it last."""
        conversation = self._conversation
        for exchange in conversation.path_to(chosen):
            if not conversation.shows(exchange):
                conversation.choose(exchange)
        place = conversation.turn_to(chosen, deeper=True)
        if self._session.keeper:
            self._session.keeper.shown(chosen)
        self._session.view.turned(conversation, place)

    def fork(self, exchange: Exchange, *, answer: bool) -> Conversation:
        """A conversation of its own that is the same up to `exchange`, its answer included where `answer`. It is kept,
        and stands beside the one at hand, which stays as it is."""
        path = self._conversation.path_to(exchange)
        copies = [(old, _copy(old)) for old in path[: None if answer else -1] if old.began]
        new = Conversation(uuid4().hex, [item for _, item in copies])
        new.thinking = self._conversation.thinking
        new.system_prompt, new.system_name = self._conversation.system_prompt, self._conversation.system_name
        if self._session.keeper and copies:
            from spark_chat.history.record import title_of

            title = title_of(self._conversation.exchanges[0].prompt)
            self._session.keeper.fork(new, f"{title} (fork)", copies)
        return new


def _copy(exchange: Exchange) -> Exchange:
    """What there is of it now, as something that is over."""
    new = copy(exchange)
    new.id = new.prompt_id = uuid4().hex
    new.edits = new.kept_as = ""
    new.answer, new.reasoning = Gathered(str(exchange.answer)), Gathered(str(exchange.reasoning))
    new.earlier = list(exchange.earlier)
    new.going_on = False
    new.stage = exchange.stage if exchange.stage.over else Stage.STOPPED
    return new
