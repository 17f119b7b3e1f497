"""What the commands of the one table do in the plain chat: one method for each action that makes sense without a
screen, here, in `messages` and in `writing`. The others say where they are to be had."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from spark_chat.driver.snapshot import Phase
from spark_chat.locations import NoHome
from spark_chat.plain.messages import Messages
from spark_chat.plain.writing import Writing
from spark_chat.tui import commands

if TYPE_CHECKING:
    from spark_chat.history.message import Listed
    from spark_chat.plain.chat import PlainChat

LISTED = 20
"""Conversations that /resume lists."""
LOG_LINES = 20

ELSEWHERE = {
    "settings": "`spark-chat settings show` and `spark-chat settings set KEY VALUE` are its settings; a change of the "
    "file takes effect here at /restart.",
    "check": "`spark-chat check FILE` runs a prompt and says what it costs.",
    "compare": "`spark-chat bench run --vary KEY=VALUES` compares settings.",
    "setup": "`spark-chat doctor` says what fits this machine; `spark-chat pull` and `spark-chat prepare` "
    "fetch and build.",
}

HELP = {
    "help": "These lines. `spark-chat help numbers` says what the numbers mean.",
    "resume": "List the other conversations; with a number of the list, go on there.",
    "go": "Yes to what was offered last: a download, the settings that ran last, leaving out the oldest turns.",
    "fold": "Print the reasoning of the last answer that has some.",
    "clear-queue": "Take back the prompts that wait.",
    "log": "The last lines of the engine's log that have these words.",
    "message": "List what was said here; with a number of the list, print that and choose it, "
    "for /edit, /again, /more, /fork and /copy.",
    "edit": "Ask this in the place of the last prompt, or the chosen one; without a text, the next prompt goes there.",
    "prompt": "Fill in a saved prompt, place by place, and send it; without a name, list them.",
    "attach": "Have a text file go along with the next prompt; so does @ and its path in the prompt.",
    "copy": "Copy the last answer, or the chosen one, or: all, code; to a file where there is no clipboard.",
    "editor": "Write a prompt in your own editor ($VISUAL or $EDITOR); it is sent when you leave it.",
}
"""What commands mean here, where it is not the same as on the screen."""

USAGE = {"message": "/message [number|earlier|later]", "resume": "/resume [number]", "attach": "/attach [path|none]"}


class Deeds(Messages, Writing):
    """The plain chat's deeds."""

    def __init__(self, chat: PlainChat) -> None:
        super().__init__(chat)
        self._listed: list[Listed] = []

    @classmethod
    def known(cls) -> list[commands.Command]:
        """The commands that do something here."""
        return [command for command in commands.COMMANDS if hasattr(cls, f"action_{command.action}")]

    async def do(self, given: commands.Given) -> None:
        """Do what a command says."""
        deed = getattr(self, f"action_{given.command.action}", None)
        if deed is not None:
            await deed(given.argument)
            return
        name = given.command.name
        self._say(ELSEWHERE.get(name, f"/{name} is for the screen: `spark-chat` without --plain has it."))

    async def action_help(self, argument: str) -> None:
        self._say("A line is a prompt. A backslash at its end, a ``` fence, or a line of three double quotes before "
                  "and after make one prompt of several lines. ctrl+c stops an answer, twice leaves.")  # fmt: skip
        for command in self.known():
            aliases = "".join(f", /{alias}" for alias in command.aliases)
            self._say(f"{USAGE.get(command.name, command.usage)}{aliases}: {HELP.get(command.name, command.help)}")

    async def action_new(self, argument: str) -> None:
        self._chat.session.begin()
        self._say("A new conversation; the old one is kept." if self._chat.journal.keeps else "A new conversation.")

    async def action_resume(self, argument: str) -> None:
        """Without an argument: list; with a number of the list: go on there."""
        journal, session = self._chat.journal, self._chat.session
        if not journal.keeps:
            self._say("No earlier conversation is kept: the history is off, or cannot be written.")
            return
        if not argument or not self._listed:
            from spark_chat.history.shelf import Shelf

            page = await journal.committed(Shelf(journal).page(0, 2 * LISTED))
            found = [item for item in page.rows if not item.held] if page is not None else []
            self._listed = [item for item in found if item.conversation != session.conversation.id][:LISTED]
        if not argument:
            for number, item in enumerate(self._listed, 1):
                self._say(f"{number}. {item.title}")
            last = "/resume and its number goes on with one." if self._listed else "There is no other one yet."
            self._say(last)
        elif argument in (numbers := [str(number) for number in range(1, len(self._listed) + 1)]):
            await self._go_on_with(self._listed[numbers.index(argument)])
        else:
            self._say(f"There is no {argument} in the list that /resume shows.")

    async def _go_on_with(self, item: Listed) -> None:
        from spark_chat.chat.restoring import restored

        journal = self._chat.journal
        kept = await journal.committed(journal.resume(item.conversation))
        if kept is None:
            self._say("That conversation could not be read back; it stays on disk as it is.")
            return
        conversation = restored(kept)
        self._chat.session.begin(conversation)
        count = len(conversation)
        self._say(f"Going on with: {item.title} ({count} prompt{'' if count == 1 else 's'}).")

    async def action_restart(self, argument: str) -> None:
        self._chat.choices.look()
        self._chat.room.use(self._chat.choices.resolved)
        self._chat.session.settings = self._chat.choices.resolved.settings
        for problem in self._chat.choices.problems:
            self._say(problem)
        self._chat.start(self._chat.room.restart())

    async def action_go_on(self, argument: str) -> None:
        """Say yes to what was offered last."""
        chat = self._chat
        snapshot = chat.session.snapshot
        if snapshot.phase is Phase.ASKING:
            chat.start(chat.room.driver.confirm())
        elif snapshot.phase is Phase.FAILED and chat.room.fallback:
            self._say(f"Back to what ran last: {'; '.join(map(str, chat.room.fallback))}.")
            chat.start(chat.room.go_back())
        elif chat.session.overflow is not None and chat.session.overflow.drop:
            chat.session.drop_oldest()
        else:
            self._say("Nothing is offered.")

    async def action_fold(self, argument: str) -> None:
        found = [item for item in self._chat.session.conversation if item.reasoning]
        self._say(str(found[-1].reasoning) if found else "No answer here has reasoning.")

    async def action_stop(self, argument: str) -> None:
        if not self._chat.session.stop():
            self._say("Nothing is being answered.")

    async def action_clear_queue(self, argument: str) -> None:
        count = self._chat.session.clear_queue()
        self._say(f"{count} taken back, not sent." if count else "Nothing waits.")

    async def action_think(self, argument: str) -> None:
        from spark_chat.chat.thinking import think

        self._say(think(self._chat.session, argument))

    async def action_system(self, argument: str) -> None:
        """Without an argument: what is said first now, and what else there is."""
        from spark_chat.chat.system import WORDS, choose, state
        from spark_chat.prompts.library import load

        library = await asyncio.to_thread(load)
        if argument:
            self._say(choose(self._chat.session, argument, library))
            return
        self._say(state(self._chat.session))
        for name, about in [*((item.name, item.about) for item in library.systems.values()), *WORDS]:
            self._say(f"/system {name}: {about}")

    async def action_title(self, argument: str) -> None:
        from spark_chat.history.shelf import Shelf

        if not self._chat.journal.keeps or not len(self._chat.session.conversation):
            self._say("There is nothing to name: nothing was asked yet, or nothing is kept of this chat.")
            return
        Shelf(self._chat.journal).rename(self._chat.session.conversation.id, argument)
        self._say(f"It is called {argument}." if argument else "It has the name that its first prompt gives it.")

    async def action_export(self, argument: str) -> None:
        from spark_chat.chat.exporting import export

        chat = self._chat
        self._say(await export(chat.journal, chat.session.conversation.id, argument, Path.cwd()))

    async def action_log(self, argument: str) -> None:
        """The last lines of the engine's log, with these words in them."""
        from spark_chat.logs.files import newest
        from spark_chat.logs.sieve import Sieve
        from spark_chat.logs.tail import Tail

        sieve = Sieve(argument)
        try:
            path = newest("engine")
            lines = Tail(path).new() if path is not None else []
        except (OSError, NoHome) as error:
            self._say(f"The log can't be read: {error}")
            return
        found = [line for line in lines if sieve.passes(line)][-LOG_LINES:]
        for line in found or ["There is no such line in the engine's log."]:
            self._say(line)

    async def action_quit(self, argument: str) -> None:
        self._chat.leave(0)
