"""The prompts of one driver: those that wait, the one that is answered, and what becomes of each.

It sends to the engine through `send` and tells a front end through `tell`; whether the engine is up is the driver's.
"""

from __future__ import annotations

from collections.abc import Callable

from spark_chat.driver import failure
from spark_chat.driver.answering import Answering
from spark_chat.driver.queue import Prompt, PromptQueue
from spark_chat.driver.snapshot import Answered, Update
from spark_chat.engine.protocol import Abort, AnyCommand, Delta, Done, Failed, ProtocolError, Started
from spark_chat.meters.numbers import AnswerNumbers


class Prompts:
    """One prompt is answered at a time; the others wait in their order.

    `changed` is called whenever `waiting` or `answering` changed, before the update that says why.
    """

    def __init__(
        self, send: Callable[[AnyCommand], None], tell: Callable[[Update], None], changed: Callable[[], None]
    ) -> None:
        self._send, self._tell, self._changed = send, tell, changed
        self._queue = PromptQueue()
        self._current: Answering | None = None

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._queue)

    @property
    def answering(self) -> str | None:
        """The id of the one that is answered."""
        return self._current.prompt.id if self._current else None

    def add(self, prompt: Prompt) -> None:
        """Queue `prompt`. Raises ValueError for an id that is in use."""
        if prompt.id in self._queue or prompt.id == self.answering:
            raise ValueError(f"A prompt with the id {prompt.id!r} is already under way.")
        self._queue.add(prompt)
        self._changed()

    def send_next(self, cold: Callable[[], bool]) -> None:
        """Send the next one, where none is answered. `cold`: whether its answer is one of the first after a start."""
        while self._current is None and (prompt := self._queue.next()) is not None:
            answering = Answering(prompt, cold())
            try:
                self._send(prompt.command())
            except ProtocolError as error:
                self._changed()
                self._end(answering, failure.of_prompt(prompt.id, error))
            else:
                self._current = answering
                self._changed()

    def abort(self, id: str | None) -> None:
        """Ask the engine to stop the answer `id`, or the running one; take one that waits out of the queue."""
        if self._current is not None and id in (None, self.answering):
            self._send(Abort(id=self._current.prompt.id))
        elif id is not None and (prompt := self._queue.remove(id)) is not None:
            self._changed()
            self._tell(Answered(id, AnswerNumbers(finish="abort"), settings_used=prompt.settings_used()))

    def take(self, event: Started | Delta | Done | Failed) -> bool:
        """An event of the running answer, or the engine's own failure; whether the answer ended by it."""
        answering = self._current
        if answering is None or event.id not in (None, answering.prompt.id):
            return False
        if isinstance(event, Done | Failed):
            self._current = None
            self._changed()
            self._end(answering, event)
            return True
        update = answering.take(event)
        if update is not None:
            self._tell(update)
        return False

    def stop(self) -> None:
        """The engine is stopped under the running answer: what came of it stays."""
        if self._current is not None:
            answered, self._current = self._current.stopped(), None
            self._changed()
            self._tell(answered)

    def _end(self, answering: Answering, event: Done | Failed) -> None:
        update = answering.take(event)
        if update is not None:
            self._tell(update)
