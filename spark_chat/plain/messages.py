"""What the plain chat does to one message: choose it by its number, edit, ask again, go on, fork, copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_chat.plain.deed import Deed

if TYPE_CHECKING:
    from spark_chat.chat.conversation import Exchange
    from spark_chat.plain.chat import PlainChat

NOTHING = "There is no prompt here yet."
STEPS = {"earlier": -1, "later": 1}
"""What /message takes beside a number: the version before, or behind."""


class Messages(Deed):
    """A prompt and its answer are one message here. One that was chosen stays so until the next prompt."""

    def __init__(self, chat: PlainChat) -> None:
        super().__init__(chat)
        self._chosen: Exchange | None = None
        self.editing: Exchange | None = None
        """The one whose place the next prompt takes."""

    @property
    def _exchange(self) -> Exchange | None:
        """The one that is meant: the chosen one, else the last."""
        conversation = self._chat.session.conversation
        if self._chosen is not None and conversation.shows(self._chosen):
            return self._chosen
        return conversation.exchanges[-1] if conversation.exchanges else None

    def leave(self) -> None:
        """No message is chosen or edited any more."""
        self._chosen = self.editing = None

    def take(self, text: str) -> bool:
        """`text` in the place of the prompt that is edited. False where none is."""
        edited = self.editing
        self.leave()
        if edited is None or not self._chat.session.conversation.shows(edited):
            return False
        self._chat.session.versions.edit(edited, text)
        return True

    # ------------------------------------------------------------------ choosing

    async def action_message(self, argument: str) -> None:
        """Without an argument: list; with a number of the list: choose it and print it; earlier and later: the other
        versions of it."""
        exchanges = self._chat.session.conversation.exchanges
        if not exchanges:
            self._say(NOTHING)
        elif not argument:
            from spark_chat.history.record import title_of

            for number, exchange in enumerate(exchanges, 1):
                self._say(f"{number}. {title_of(exchange.prompt)}{self._versions(exchange)}")
            self._say("/message and its number prints and chooses one, for /edit, /again, /more, /fork and /copy.")
        elif argument in STEPS:
            self._step(argument)
        elif argument in (numbers := [str(number) for number in range(1, len(exchanges) + 1)]):
            self._choose(exchanges[numbers.index(argument)])
        else:
            self._say(f"It is /message, and a number up to {len(exchanges)}, earlier or later.")

    def _choose(self, exchange: Exchange) -> None:
        self.leave()
        self._chosen = exchange
        number = self._chat.session.conversation.exchanges.index(exchange) + 1
        self._say(f"Message {number}{self._versions(exchange)}:")
        self._say(f"{exchange.prompt}\n\n{str(exchange.answer).strip() or 'There is no answer yet.'}")

    def _step(self, which: str) -> None:
        exchange = self._exchange
        if exchange is None:
            return
        versions = self._chat.session.versions
        chosen = versions.step(exchange, STEPS[which], answers=True)
        chosen = chosen or versions.step(exchange, STEPS[which], answers=False)
        if chosen is None:
            self._say(f"There is no {which} version of it.")
        else:
            self._choose(chosen)

    def _versions(self, exchange: Exchange) -> str:
        """Which of its versions it is; "" where there is one."""
        conversation = self._chat.session.conversation
        prompts, answers = conversation.prompts(exchange), conversation.answers(exchange)
        said = []
        if len(prompts) > 1:
            said.append(f"prompt {prompts.index(exchange.prompt_id) + 1} of {len(prompts)}")
        if len(answers) > 1:
            said.append(f"answer {answers.index(exchange) + 1} of {len(answers)}")
        return f" ({', '.join(said)})" if said else ""

    # ------------------------------------------------------------------ deeds

    async def action_edit(self, argument: str) -> None:
        """With a text: ask it in the place of the prompt; without: the next prompt goes there."""
        exchange = self._exchange
        if exchange is None:
            self._fail(NOTHING)
        elif argument.strip():
            self.editing = exchange
            await self._chat.send(argument.strip("\n"))
        else:
            self.editing = exchange
            self._say(f"{exchange.prompt}\n\nThe next prompt takes the place of this one, which stays as a version. "
                      "ctrl+c leaves it as it is.")  # fmt: skip

    async def action_again(self, argument: str) -> None:
        exchange = self._exchange
        self.leave()
        if exchange is None:
            self._say(NOTHING)
        elif self._chat.session.versions.again(exchange) is exchange:
            self._say("It still waits for its turn.")

    async def action_more(self, argument: str) -> None:
        exchange = self._exchange
        problem = self._chat.session.versions.go_on(exchange) if exchange else "There is no answer here yet."
        if problem:
            self._say(problem)

    async def action_fork(self, argument: str) -> None:
        exchange = self._exchange
        if exchange is None:
            self._say(NOTHING)
            return
        self.leave()
        session = self._chat.session
        session.begin(session.versions.fork(exchange, answer=True))
        count = len(session.conversation)
        self._say(f"This is a fork of {count} prompt{'' if count == 1 else 's'}: the conversation that it comes from "
                  "stays as it is, and /resume lists it.")  # fmt: skip

    async def action_copy(self, argument: str) -> None:
        """By the desktop's own tool, or through tmux, else to a file: no control sequence is ever written."""
        from spark_chat import locations
        from spark_chat.chat.quoting import to_copy
        from spark_chat.tui.clipboard import copy

        exchanges = self._chat.session.conversation.exchanges
        if self._chosen is not None and self._exchange is self._chosen and argument != "all":
            exchanges = [self._chosen]
        text = to_copy(exchanges, argument)
        if text is None:
            self._say("It is /copy, /copy all or /copy code.")
            return
        if not text:
            self._say("There is nothing to copy yet.")
            return
        try:
            done: Any = await copy(text, None, locations.state() / "copied.txt")
        except (OSError, locations.NoHome) as trouble:
            self._say(f"Nothing was copied: {trouble}")
        else:
            self._say(done.sentence)
