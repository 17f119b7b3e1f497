"""The chat for who listens to it: nothing is drawn again unless the person did something or an answer came on by a
line. No spinner, no counter that ticks, no sentence that goes away by itself, and numbers once an answer is over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spark_chat.driver.snapshot import Snapshot
from spark_chat.optimizations.optimization import Badge
from spark_chat.tui import notices
from spark_chat.tui.screens.chat_view import ChatView
from spark_chat.tui.transcribing import reading_or_waiting

if TYPE_CHECKING:
    from spark_chat.chat.conversation import Conversation, Exchange
    from spark_chat.meters.numbers import AnswerNumbers
    from spark_chat.tui.screens.chat import ChatScreen


def ticks(was: Snapshot, now: Snapshot) -> bool:
    """Whether no more than figures moved: memory, context in use, how far a stage is, what a badge counts."""
    if [_shown(badge) for badge in was.badges] != [_shown(badge) for badge in now.badges]:
        return False
    same_stage = (was.progress and was.progress.stage) == (now.progress and now.progress.stage)
    progress = was.progress if same_stage else now.progress
    figures = {"statistics": was.statistics, "context_used": was.context_used, "badges": was.badges}
    return was == replace(now, progress=progress, **figures)  # type: ignore[arg-type]


def _shown(badge: Badge) -> Badge:
    """What the header shows of it."""
    return replace(badge, reason="", proof={}, counters={})


class Held:
    """Text of one answer that waits for the end of its line."""

    def __init__(self) -> None:
        self.id = ""
        self._text: list[str] = []
        self._reasoning: list[str] = []

    def begin(self, id: str) -> None:
        self.id, self._text, self._reasoning = id, [], []

    def add(self, text: str, reasoning: str) -> str:
        """More of it; what is whole by now."""
        self._reasoning.append(reasoning)
        whole, end, rest = text.rpartition("\n")
        if not end:
            self._text.append(text)
            return ""
        ready = "".join((*self._text, whole, end))
        self._text = [rest]
        return ready

    def recast(self) -> None:
        """What is held of text was reasoning."""
        self._reasoning += self._text
        self._text = []

    def rest(self) -> tuple[str, str]:
        """What was held of text and of reasoning."""
        found = "".join(self._text), "".join(self._reasoning)
        self.begin("")
        return found


class QuietView(ChatView):
    """`ChatView` in accessible mode."""

    def __init__(self, screen: ChatScreen) -> None:
        super().__init__(screen)
        self._held = Held()
        self._shown = Snapshot()

    def changed(self, snapshot: Snapshot) -> None:
        was, self._shown = self._shown, snapshot
        if ticks(was, snapshot):
            self._gauges.changed(snapshot, self._screen.spark.session.conversation)
        else:
            super().changed(snapshot)

    def piece(self, exchange: Exchange, text: str, reasoning: str, numbers: AnswerNumbers) -> None:
        if not numbers.tokens and not text and not reasoning:
            return
        if self._held.id != exchange.id:
            self._held.begin(exchange.id)
            self._transcript.set_status(exchange.id, "")
        self._gauges.numbers = numbers
        ready = self._held.add(text, reasoning)
        if ready:
            self._transcript.append(exchange.id, ready)

    def recast(self, exchange: Exchange) -> None:
        if self._held.id == exchange.id:
            self._held.recast()
        super().recast(exchange)

    def ended(self, exchange: Exchange) -> None:
        if self._held.id == exchange.id:
            self._transcript.append(exchange.id, *self._held.rest())
        super().ended(exchange)

    def restored(self, conversation: Conversation) -> None:
        self._held.begin("")
        super().restored(conversation)

    def say(self, sentence: str, seconds: float = 0.0) -> None:
        """It stays until the next one, or until something is done."""
        self.put(notices.said(sentence))

    def toggle_chart(self) -> None:
        self.say("The chart is a picture, and accessible mode has none. The numbers of an answer stand under it.")

    def _show_meters(self) -> None:
        if self._screen.spark.session.answering is None:
            super()._show_meters()

    def _read(self, exchange: Exchange) -> None:
        self._transcript.set_status(exchange.id, reading_or_waiting(self._screen.spark.session.snapshot))
