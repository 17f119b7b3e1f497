"""One sitting: a conversation, the engine that answers it, and the order in which prompts get their turn.

Knows no widget. Front ends give a `View`, which is told of everything as it happens, on the caller's event loop.
Prompts queue here, not in the engine: what is sent with a prompt is only known once the one before it was answered.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

from spark_chat.chat.conversation import Conversation, Exchange, Stage
from spark_chat.chat.ports import Engine, Keeper, Overflow, View
from spark_chat.chat.versions import Versions
from spark_chat.chat.waits import Waits
from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece, Snapshot, Update
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings

__all__ = ["Overflow", "Session"]

ENGINE_GONE = ("died", "load", "memory", "protocol", "held")
"""Failures of the engine itself: a prompt it had not begun keeps its place and goes to the next one."""


class Session:
    """Sends prompts one at a time and keeps what comes back."""

    def __init__(self, view: View, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.view, self.settings = view, settings
        self.conversation = Conversation(id=uuid4().hex)
        self.snapshot = Snapshot()
        self.engine: Engine | None = None
        self.keeper: Keeper | None = None
        self.overflow: Overflow | None = None
        self._running: Exchange | None = None
        self.versions = Versions(self)
        self._left: dict[str, Exchange] = {}
        """Answers that were still being stopped when their conversation was left."""
        self._waits = Waits(clock)

    @property
    def busy(self) -> bool:
        """Whether there is something to stop: an answer that runs or a prompt that waits."""
        return self._running is not None or bool(self.conversation.waiting)

    @property
    def answering(self) -> Exchange | None:
        """The exchange that is being answered."""
        return self._running if self._running is not None and self._running.stage is Stage.ANSWERING else None

    @property
    def thinking(self) -> bool:
        """Whether the model may reason in this conversation."""
        own = self.conversation.thinking
        return self.settings.sampling.thinking if own is None else own

    def think(self, own: bool | None) -> None:
        """Have the model reason in this conversation, or not; None: as the settings say."""
        self.conversation.thinking = own
        if self.keeper:
            self.keeper.set_up(self.conversation)

    @property
    def system_prompt(self) -> str:
        """What is said to the model before this conversation."""
        own = self.conversation.system_prompt
        return self.settings.sampling.system_prompt if own is None else own

    def say_first(self, text: str | None, name: str = "") -> None:
        """Have `text`, called `name`, said before this conversation; None: what the settings say."""
        self.conversation.system_prompt, self.conversation.system_name = text, name
        if self.keeper:
            self.keeper.set_up(self.conversation)

    # ------------------------------------------------------------------ what a person does

    def send(self, text: str) -> Exchange:
        """Take a prompt in. It is asked at once, or as soon as its turn comes and the engine is there."""
        exchange = self.conversation.add(Exchange(id=uuid4().hex, prompt=text))
        self._waits.begin(exchange.id)
        if self.keeper:
            self.keeper.asked(exchange)
        self.view.asked(exchange)
        self.go_on()
        return exchange

    def stop(self) -> bool:
        """Stop the answer that runs, else take back the last prompt that waits. False where there was neither."""
        running = self._running
        if running is not None and running.stage is Stage.ANSWERING:
            self._stop_running()
            return True
        waiting = self.conversation.waiting
        if not waiting:
            return False
        self._take_back(waiting[-1])
        return True

    def leave(self) -> None:
        """The chat ends: what runs is stopped, and nothing more is asked. What waits stays kept as waiting."""
        self._stop_running()
        self.engine = None

    def _stop_running(self) -> None:
        if self._running and self.engine:
            self.engine.abort(self._running.asked_as)

    def leave_way(self, kept: set[str]) -> None:
        """Other versions are wanted: of what follows the exchanges `kept`, an answer that runs is stopped, prompts
        that wait are taken back."""
        self._overflowed(None)
        if self._running is not None and self._running.id not in kept and self._running.stage is Stage.ANSWERING:
            self._stop_running()
        for exchange in reversed(self.conversation.waiting):
            if self.conversation.shows(exchange) and exchange.id not in kept:
                self._take_back(exchange)

    def wait(self, exchange: Exchange) -> None:
        """`exchange` is queued: it is asked when its turn comes."""
        self._waits.begin(exchange.id)
        self.go_on()

    def clear_queue(self) -> int:
        """Take back all prompts that wait. Returns how many."""
        waiting = self.conversation.waiting
        for exchange in reversed(waiting):
            self._take_back(exchange)
        return len(waiting)

    def begin(self, conversation: Conversation | None = None) -> None:
        """Go to another conversation, or to a fresh one. What ran is stopped and stays kept; what waited still waits
        when one comes back."""
        self._stop_running()
        if self._running is not None:
            self._left[self._running.asked_as] = self._running
            self._running = None
        self._overflowed(None)
        self.conversation = conversation or Conversation(id=uuid4().hex)
        if self.keeper:
            self.keeper.begin(self.conversation)
        self.go_on()

    def keep(self, keeper: Keeper) -> None:
        """There is a place to keep things now; what was typed before goes there first."""
        self.keeper = keeper
        keeper.begin(self.conversation)
        for exchange in self.conversation.all:
            keeper.asked(exchange)
        if self.conversation.thinking is not None or self.conversation.system_prompt is not None:
            keeper.set_up(self.conversation)

    def drop_oldest(self) -> int:
        """Leave out the oldest turns, as the overflow says, and ask its prompt again. Returns how many went."""
        overflow = self.overflow
        if overflow is None or not overflow.drop:
            return 0
        dropped = self.conversation.drop_oldest(overflow.exchange, overflow.drop)
        self._ask_again(overflow.exchange)
        return dropped

    def _ask_again(self, exchange: Exchange) -> None:
        """Ask a prompt that was too long once more."""
        exchange.stage, exchange.failure, exchange.numbers, exchange.reason = Stage.QUEUED, None, None, ""
        exchange.going_on = bool(exchange.answer or exchange.reasoning)
        self._waits.begin(exchange.id)
        self._overflowed(None)
        self.view.staged(exchange)
        self.go_on()

    def let_be(self) -> None:
        """Leave an overflow as it is; what waits behind it goes on."""
        self._overflowed(None)
        self.go_on()

    # ------------------------------------------------------------------ what the engine does

    def attach(self, engine: Engine) -> None:
        """The engine's driver is there: what was typed before goes to it."""
        self.engine = engine
        self.go_on()

    def go_on(self) -> None:
        """Ask the next prompt where nothing stands in its way."""
        if self.engine is None or self._running is not None or self.overflow is not None:
            return
        if self.snapshot.phase in (Phase.FAILED, Phase.STOPPED):
            return
        waiting = self.conversation.waiting
        if not waiting:
            return
        exchange = self._running = waiting[0]
        self._waits.end(exchange.id)
        messages = self.conversation.turns(exchange, self.system_prompt)
        sampling = replace(self.settings.sampling, thinking=self.thinking, system_prompt=self.system_prompt)
        settings = replace(self.settings, sampling=sampling)
        self.engine.ask(exchange.asked_as, messages, settings, opening=exchange.opening)

    def update(self, update: Update) -> None:
        """Take in one update of the driver."""
        if isinstance(update, Changed):
            self._changed(update.snapshot)
        elif isinstance(update, Piece):
            self._piece(update)
        elif isinstance(update, Answered):
            self._answered(update)

    def _changed(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        if snapshot.answering and self._running and snapshot.answering == self._running.asked_as:
            self._begun(self._running)
        self.view.changed(snapshot)
        overflow, ready = self.overflow, snapshot.ready
        if overflow is not None and snapshot.phase is Phase.READY and ready and ready.context > overflow.prompt_tokens:
            self._ask_again(overflow.exchange)  # an engine with more room came up
        self.go_on()

    def _begun(self, exchange: Exchange) -> None:
        if exchange.stage is not Stage.QUEUED:
            return
        exchange.stage, exchange.began = Stage.ANSWERING, True
        exchange.model = self.snapshot.recipe.model.name if self.snapshot.recipe else ""
        if self.keeper:
            self.keeper.started(exchange)
        if self.conversation.shows(exchange):
            self.view.staged(exchange)

    def _piece(self, piece: Piece) -> None:
        exchange = self.conversation.find(piece.id)
        if exchange is None or exchange.stage.over or exchange.asked_as != piece.id:
            return
        self._begun(exchange)
        if piece.was_thought:
            self._recast(exchange)
        exchange.answer.add(piece.text)
        exchange.reasoning.add(piece.reasoning)
        exchange.numbers, exchange.reading = piece.numbers, piece.reading
        if self.keeper:
            self.keeper.piece(exchange, piece.text, piece.reasoning)
        if self.conversation.shows(exchange):
            self.view.piece(exchange, piece.text, piece.reasoning, piece.numbers)

    def _recast(self, exchange: Exchange) -> None:
        exchange.recast()
        if self.keeper:
            self.keeper.recast(exchange)
        if self.conversation.shows(exchange):
            self.view.recast(exchange)

    def _answered(self, answered: Answered) -> None:
        left = self._left.pop(answered.id, None)  # of the conversation before
        if left is not None and left.began:
            left.end(answered.numbers, answered.failure)
            if self.keeper:
                self.keeper.ended(left)
        exchange = self.conversation.find(answered.id)
        if self._running is not None and self._running.asked_as == answered.id:
            self._running = None
        if exchange is None or exchange.stage.over or exchange.asked_as != answered.id:
            self.go_on()
            return
        failure = answered.failure
        if self.engine is None and exchange.stage is Stage.QUEUED:
            return  # the chat ends before its turn came: it waits for the next one
        if failure and failure.code in ENGINE_GONE and exchange.stage is Stage.QUEUED:
            self._waits.resume(exchange.id)
            return
        exchange.engine_figures = answered.engine_figures
        ready = self.snapshot.ready
        engine = {"engine": f"{ready.engine} {ready.version}".strip()} if ready else {}
        exchange.used = {**answered.settings_used, **engine}
        exchange.end(self._waits.added(exchange.id, answered.numbers), failure)
        if self.keeper:
            self.keeper.ended(exchange)
        self._tell_ended(exchange)
        if failure and failure.code == "overflow":
            context = int(failure.facts.get("context") or (ready.context if ready else 0))
            longest = self.settings.sampling.max_tokens
            self._overflowed(Overflow.of(self.conversation, exchange, failure, context, longest))
        self.go_on()

    def _overflowed(self, overflow: Overflow | None) -> None:
        if overflow is not self.overflow:
            self.overflow = overflow
            self.view.overflowed(overflow)

    def _tell_ended(self, exchange: Exchange) -> None:
        if self.conversation.shows(exchange):
            self.view.ended(exchange)

    def _take_back(self, exchange: Exchange) -> None:
        if exchange is self._running:
            self._stop_running()
            self._running = None
        if exchange.going_on:
            exchange.stay()
        else:
            exchange.end(AnswerNumbers(finish="abort"), None)
            if self.keeper:
                self.keeper.ended(exchange)
        self._tell_ended(exchange)
        if not exchange.began and not exchange.owns_prompt:  # nothing is lost with it: the prompt is another's
            place = self.conversation.take_out(exchange)
            if place is not None:
                self.view.turned(self.conversation, place)
