"""Moving from one conversation to another, and what is done to one from outside: fork, delete, undo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_chat.tui import commands
from spark_chat.tui.transcript import Transcript

if TYPE_CHECKING:
    from spark_chat.chat.conversation import Conversation, Exchange
    from spark_chat.history.shelf import Shelf
    from spark_chat.tui.app import SparkApp


@dataclass(frozen=True)
class Deleted:
    """A conversation that can be brought back while the app runs."""

    conversation: str
    title: str


class Desk:
    """One conversation lies on it; the others are on the shelf."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._shelf: Shelf | None = None
        self.deleted: list[Deleted] = []

    @property
    def shelf(self) -> Shelf | None:
        """Where all conversations are; None while nothing is kept."""
        journal = self._app.journal
        if self._shelf is None and journal is not None and journal.keeps:
            from spark_chat.history.shelf import Shelf

            self._shelf = Shelf(journal)
        return self._shelf

    # ------------------------------------------------------------------ from one to another

    async def resume(self, id: str, message: str = "") -> None:
        """Go on with a kept conversation, where it was left, or at one message of it."""
        app = self._app
        if app.journal is None:
            return
        from spark_chat.chat.restoring import restored

        if id == app.session.conversation.id:
            self._show(message)
            return
        kept = await app.journal.committed(app.journal.resume(id))
        if kept is None:
            app.say("That conversation could not be read back; it stays on disk as it is.")
            return
        self.turn_to(restored(kept))
        if message:
            self._show(message)
        elif kept.place:
            app.chat.query_one(Transcript).go_to(kept.place)
        draft = written(kept.draft)
        if draft and app.chat.composer.is_empty:
            app.chat.composer.set_text(draft)
        elif draft and draft != app.chat.composer.text:
            app.chat.composer.recall([draft], newest=True)
            app.say("What you were writing there is one up (the up key).")

    def turn_to(self, conversation: Conversation | None) -> None:
        """Leave the conversation as it is for this one, or a new one; what is being written comes along."""
        app = self._app
        app.chat.composer.revising.end()
        text = app.chat.composer.draft
        app.opening.keep_draft("")
        self.keep_place()
        app.opening.forget_offer()
        app.session.begin(conversation)
        app.chat.view.restored(app.session.conversation)
        app.opening.keep_draft(text)

    def keep_place(self) -> None:
        """Where the conversation is read now is where it will be opened."""
        conversation = self._app.session.conversation
        if self.shelf is not None and len(conversation):
            self.shelf.left_at(conversation.id, self._app.chat.query_one(Transcript).place)

    def _show(self, message: str) -> None:
        """Choose a message by the id that it is kept under, whichever version it is of."""
        session, mode = self._app.session, self._app.chat.message_mode
        for exchange in session.conversation.all:
            kind = {exchange.answer_id: "answer", exchange.prompt_id: "prompt"}.get(message)
            if kind is not None:
                if not session.conversation.shows(exchange):
                    session.versions.show(exchange)
                mode.choose(kind, exchange.id)
                return

    # ------------------------------------------------------------------ from outside

    def fork(self, exchange: Exchange, *, answer: bool) -> None:
        """Go on in a copy of the conversation up to this answer, or up to right before this prompt, which then stands
        in the composer."""
        app = self._app
        new = app.session.versions.fork(exchange, answer=answer)
        self.turn_to(new)
        if not answer and app.chat.composer.is_empty:
            app.chat.composer.set_text(exchange.prompt)
        app.chat.composer.focus()
        app.say("This is a fork: the conversation that it comes from stays as it is, in the list.")

    def delete(self, conversation: str, title: str) -> None:
        """Take one out of the list; for the rest of this session it can be brought back."""
        if self.shelf is None:
            return
        if conversation == self._app.session.conversation.id:
            self.turn_to(None)
        self.shelf.delete(conversation)
        self.deleted.append(Deleted(conversation, title))

    def undo(self) -> Deleted | None:
        """Bring back the one that was deleted last; None where there is none."""
        if self.shelf is None or not self.deleted:
            return None
        back = self.deleted.pop()
        self.shelf.bring_back(back.conversation)
        return back


def written(draft: str) -> str:
    """A draft as it is given back: a command alone was not being written, it was being given."""
    meant = commands.parse(draft)
    return "" if isinstance(meant, commands.Given) and not meant.argument else draft
