"""The message that a person chose in the transcript, and what is done with it. The composer keeps the focus: any key
that means nothing here ends the choice and goes where it always goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_chat.chat.quoting import code_blocks, copied, quoted
from spark_chat.tui import message_keys
from spark_chat.tui.message_keys import About
from spark_chat.tui.transcript import Transcript
from spark_chat.tui.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from spark_chat.chat.conversation import Exchange
    from spark_chat.tui.screens.chat import ChatScreen

STAYING = ("scroll.", "chat.message", "chat.fold")
"""Starts of the ids of bindings that leave the choice as it is."""


class MessageMode:
    """What the keys do to the chosen message of a chat screen."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen

    @property
    def _transcript(self) -> Transcript:
        return self._screen.query_one(Transcript)

    @property
    def active(self) -> bool:
        """Whether a message is chosen."""
        return self._screen.is_mounted and self._transcript.chosen is not None

    @property
    def exchange(self) -> Exchange | None:
        """The exchange that the chosen message is of."""
        chosen = self._transcript.chosen
        return None if chosen is None else self._screen.spark.session.conversation.find(chosen[1])

    @property
    def _on_answer(self) -> bool:
        return self._transcript.chosen is not None and self._transcript.chosen[0] == "answer"

    def about(self) -> About | None:
        """What the keys depend on."""
        exchange, chosen = self.exchange, self._transcript.chosen
        if exchange is None or chosen is None:
            return None
        conversation = self._screen.spark.session.conversation
        if chosen[0] == "prompt":
            blocks, versions = 0, len(conversation.prompts(exchange))
        else:
            blocks, versions = len(code_blocks(str(exchange.answer))), len(conversation.answers(exchange))
        last = conversation.exchanges[-1] is exchange
        return About(
            chosen[0] == "answer", versions, blocks, self._transcript.folds(*chosen),
            cut=chosen[0] == "answer" and last and exchange.cut and not exchange.going_on,
        )  # fmt: skip

    # ------------------------------------------------------------------ choosing

    def move(self, step: int) -> bool:
        """Choose the message before or behind; the last one where none is chosen. False where there is none."""
        chosen = self._transcript.choose(step)
        self.show()
        return chosen

    def choose(self, kind: str, id: str) -> bool:
        """Choose that message: prompt or answer of the exchange `id`."""
        chosen = self._transcript.choose_message(kind, id)
        self.show()
        return chosen

    def leave(self) -> None:
        """No message is chosen any more."""
        if self.active:
            self._transcript.choose_none()
        self.show()

    def show(self) -> None:
        """Bring the line of keys up to date."""
        self._screen.query_one(MessageBar).show(self.about())

    def take(self, key: str) -> bool:
        """A key, or "" for a paste, before it goes where it goes; whether it was one of the chosen message's. One that
        means something else ends the choice. The composer has the focus, so no binding of a letter would be asked."""
        if not self.active:
            if self._screen.is_mounted and self._screen.query_one(MessageBar).display:
                self.show()  # what was chosen is gone
            return False
        given = message_keys.deed_of(key)
        if given is not None:
            self.do(*given)
            return True
        bound = self._screen.active_bindings.get(key)
        if bound is None or not (bound.binding.id or "").startswith(STAYING):
            self.leave()
        return False

    # ------------------------------------------------------------------ deeds

    def do(self, deed: str, number: int) -> None:
        """Do it to the chosen message."""
        if deed == "move":
            self.move(number)
        elif deed == "leave":
            self.leave()
        elif (exchange := self.exchange) is not None:
            getattr(self, f"do_{deed}")(exchange, number)

    def do_to_last(self, deed: str) -> bool:
        """Do it to the chosen message, else to the last answer, or prompt. False where there is none."""
        exchange = self._meant
        if exchange is None:
            return False
        getattr(self, f"do_{deed}")(exchange, 0)
        return True

    @property
    def _meant(self) -> Exchange | None:
        """The exchange of the chosen message, else the last one."""
        exchanges = self._screen.spark.session.conversation.exchanges
        return self.exchange or (exchanges[-1] if exchanges else None)

    def ask_in_place(self, text: str) -> bool:
        """Ask `text` in the place of the chosen prompt, else of the last one. False where there is none."""
        exchange = self._meant
        if exchange is None:
            return False
        self.leave()
        self._screen.spark.session.versions.edit(exchange, text)
        self._transcript.follow_end()
        return True

    def do_copy(self, exchange: Exchange, number: int) -> None:
        text = str(exchange.answer) if self._on_answer else exchange.prompt
        self._copy(copied(text), "It is empty.")

    def do_markdown(self, exchange: Exchange, number: int) -> None:
        self._copy(quoted(exchange, numbers=True), "It is empty.")

    def do_code(self, exchange: Exchange, number: int) -> None:
        blocks = code_blocks(str(exchange.answer) if self._on_answer else exchange.prompt)
        have = f"There {'is 1 code block' if len(blocks) == 1 else f'are {len(blocks)} code blocks'} in it."
        self._copy(blocks[number - 1] if number <= len(blocks) else "", have if blocks else "No code block is in it.")

    def _copy(self, text: str, otherwise: str) -> None:
        if text:
            self._screen.spark.copy_to_clipboard(text)
        else:
            self._screen.spark.say(otherwise)

    def do_edit(self, exchange: Exchange, number: int) -> None:
        self.leave()
        self._screen.edit(exchange)

    def do_again(self, exchange: Exchange, number: int) -> None:
        self.leave()
        new = self._screen.spark.session.versions.again(exchange)
        if new is exchange:
            self._screen.spark.say("It still waits for its turn.")
        else:
            self._transcript.follow_end()

    def do_go_on(self, exchange: Exchange, number: int) -> None:
        problem = self._screen.spark.session.versions.go_on(exchange)
        if problem:
            self._screen.spark.say(problem)
        else:
            self.leave()
            self._transcript.follow_end()

    def do_step(self, exchange: Exchange, number: int) -> None:
        answers = self._on_answer
        chosen = self._screen.spark.session.versions.step(exchange, number, answers=answers)
        if chosen is not None:
            self.choose("answer" if answers else "prompt", chosen.id)

    def do_open(self, exchange: Exchange, number: int) -> None:
        chosen = self._transcript.chosen
        if chosen is not None:
            self._transcript.toggle(*chosen)

    def do_fork(self, exchange: Exchange, number: int) -> None:
        answer = self._on_answer or not self.active
        self.leave()
        self._screen.spark.desk.fork(exchange, answer=answer)

    def do_check(self, exchange: Exchange, number: int) -> None:
        self.leave()
        self._screen.spark.run_command("check", exchange.prompt)
