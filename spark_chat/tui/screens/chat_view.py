"""What the chat screen shows of a sitting: told of everything by the session, it fills the widgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.timer import Timer

from spark_chat.chat.conversation import Conversation, Exchange, Stage
from spark_chat.chat.quoting import to_copy
from spark_chat.chat.session import Overflow
from spark_chat.driver.lingering import took_over
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings
from spark_chat.tui import notices
from spark_chat.tui.pace import share
from spark_chat.tui.screens.gauges import Gauges
from spark_chat.tui.screens.names import engine_name, no_model
from spark_chat.tui.screens.noticing import Noticing
from spark_chat.tui.transcribing import (
    answer_versions,
    end_line,
    entries_of,
    failure_text,
    reading_status,
    short_name,
    thought_note,
    transcript_state,
    unsent_mark,
    waiting_mark,
)
from spark_chat.tui.transcript import Transcript
from spark_chat.tui.transcript.entry import QUEUED
from spark_chat.tui.widgets.header import Header, Title
from spark_chat.tui.widgets.meters import Meters
from spark_chat.tui.widgets.proof import About, ProofPanel

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Ready
    from spark_chat.tui.lab.chart import Chart
    from spark_chat.tui.screens.chat import ChatScreen

READING_EVERY_S = 1.0
"""The seconds of a prompt that is being read go on at this step."""


class ChatView(Noticing):
    """Implements `session.View` on the widgets of a chat screen."""

    def __init__(self, screen: ChatScreen) -> None:
        super().__init__(screen)
        self._gauges = Gauges()
        self._reading: Timer | None = None
        self.proof: ProofPanel | None = None
        """The panel that is open on a badge."""
        self._engine_figures: Mapping[str, object] = {}
        self._chart: Chart | None = None
        self._ready: Ready | None = None
        self.machine = ""
        self.memory_all: int | None = None

    @property
    def _transcript(self) -> Transcript:
        return self._screen.query_one(Transcript)

    # ------------------------------------------------------------------ told by the session

    def asked(self, exchange: Exchange) -> None:
        self._transcript.add_prompt(exchange.id, exchange.prompt, queued=True)
        self._mark_waiting()
        self._show_meters()
        self.show_notices()

    def staged(self, exchange: Exchange) -> None:
        self._transcript.set_mark(exchange.id, QUEUED if exchange.stage is Stage.QUEUED else "")
        if exchange.stage is Stage.ANSWERING:
            if not exchange.going_on:
                versions = answer_versions(self._screen.spark.session.conversation, exchange)
                self._transcript.add_answer(exchange.id, short_name(exchange.model), versions)
            self._gauges.begin()
            self._read(exchange)
            if self._chart is not None:
                self._chart.clear()
        self._show_meters()

    def piece(self, exchange: Exchange, text: str, reasoning: str, numbers: AnswerNumbers) -> None:
        if not numbers.tokens and not text and not reasoning:
            return  # the prompt is being read: the status tells how far it is
        if self._reading is not None:
            self._end_reading(exchange)
        self._transcript.append(exchange.id, text, reasoning, thought_note(numbers))
        if self._gauges.piece(numbers, self._screen.spark.clock()):
            if self._chart is not None:
                self._chart.add(numbers.live_tok_s, numbers.live_accept_length)
            self._show_meters()

    def recast(self, exchange: Exchange) -> None:
        self._transcript.recast(exchange.id)

    def ended(self, exchange: Exchange) -> None:
        self._transcript.set_mark(exchange.id, "" if exchange.began else unsent_mark(exchange))
        if exchange.engine_figures:
            self._engine_figures = exchange.engine_figures
        if exchange.began:
            line, note = end_line(exchange), thought_note(exchange.numbers)
            self._transcript.finish(exchange.id, line, transcript_state(exchange), note)
            self._end_reading(exchange)
            self._gauges.ended(exchange.numbers)
        if exchange.failure is not None and exchange.failure.code != "overflow":
            self._transcript.add_notice("error", failure_text(exchange.failure))
        self._show_meters()
        self.show_notices()
        self._screen.spark.weighing.changed()

    def stopping(self, exchange: Exchange) -> None:
        """The engine was told to stop: it may take a moment, such as the rest of a batch of the prompt."""
        self._end_reading(exchange)
        self._transcript.set_status(exchange.id, "stopping…")

    def _read(self, exchange: Exchange) -> None:
        """The engine reads the prompt: for a long one that takes a while, and looks like nothing at all."""
        since = self._screen.spark.clock()
        self._end_reading(exchange)
        self._reading = self._screen.set_interval(READING_EVERY_S, lambda: self.tell_reading(exchange, since))

    def tell_reading(self, exchange: Exchange, since: float) -> None:
        """Say how long the prompt has been read, from `since` (seconds), and how far it is where that is known."""
        seconds = int(self._screen.spark.clock() - since)
        status = reading_status(exchange, self._screen.spark.session.snapshot, seconds)
        self._transcript.set_status(exchange.id, status)

    def _end_reading(self, exchange: Exchange) -> None:
        if self._reading is not None:
            self._reading.stop()
            self._reading = None
        self._transcript.set_status(exchange.id, "")

    def _mark_waiting(self) -> None:
        session = self._screen.spark.session
        for exchange in session.conversation.waiting:
            self._transcript.set_mark(exchange.id, waiting_mark(session.snapshot.phase is Phase.READY))

    def changed(self, snapshot: Snapshot) -> None:
        if snapshot.ready is not self._ready:
            self._ready = snapshot.ready
            if said := took_over(snapshot.ready, bool(snapshot.recipe and snapshot.recipe.fresh)):
                self.say(f"The chat {said}.")
        if snapshot.recipe is not None:
            self._transcript.share = share(snapshot.recipe.engine)
        self._gauges.changed(snapshot, self._screen.spark.session.conversation)
        self._mark_waiting()
        self._show_header()
        self._show_meters()
        self.show_notices()
        if self.proof_shown:
            self.show_proof(self.proof_shown)

    def overflowed(self, overflow: Overflow | None) -> None:
        self._overflow = overflow
        self.show_notices()

    def turned(self, conversation: Conversation, place: int) -> None:
        """From number `place` on other exchanges stand there now."""
        self._transcript.cut_behind(conversation.exchanges[place - 1].id if place else None)
        self._transcript.restore(entries_of(conversation, place))
        self._gauges.turned(conversation)
        self._mark_waiting()
        self._show_meters()
        self.show_notices()

    def restored(self, conversation: Conversation) -> None:
        """Another conversation stands there now."""
        self._screen.spark.weighing.changed()
        self._screen.message_mode.leave()
        self._transcript.clear()
        self._transcript.restore(entries_of(conversation))
        self._transcript.follow_end()
        self._gauges.restored(conversation)
        self._mark_waiting()
        self._show_meters()
        self.show_notices()

    def tell_dropped(self, count: int) -> None:
        """So many of the oldest turns are no longer sent."""
        if count:
            turns = "The oldest turn is" if count == 1 else f"The {count} oldest turns are"
            stay = "It stays" if count == 1 else "They stay"
            self._transcript.add_notice("info", f"{turns} no longer sent to the model. {stay} here and on disk.")

    def use(self, settings: Settings, elsewhere: bool) -> None:
        """The settings in force changed."""
        app = self._screen.spark
        self._transcript.follow = settings.ui.follow
        app.use_theme(settings.ui.theme)
        pending = app.room.pending if app.room else ()
        if pending:
            self.put(notices.pending_notice([str(change) for change in pending], elsewhere))
        else:
            self.take_down("pending")
        self._show_header()

    def toggle_chart(self) -> None:
        """Put up the chart of the answer above the meters, or take it down."""
        if self._chart is not None:
            self._chart.remove()
            self._chart = None
            return
        from spark_chat.tui.lab.chart import Chart

        self._chart = Chart()
        self._screen.mount(self._chart, before="#meters")

    def toggle_fold(self) -> bool:
        """Open or fold the chosen message, else the last thought, else the last long prompt; False where there is
        none."""
        return self._transcript.toggle_last()

    def text_to_copy(self, what: str) -> str | None:
        """The last answer, all of the conversation, or the last answer's code; None for another word."""
        return to_copy(self._screen.spark.session.conversation.exchanges, what)

    # ------------------------------------------------------------------ header, meters, proof

    def _show_header(self) -> None:
        app = self._screen.spark
        snapshot = app.session.snapshot
        recipe = snapshot.recipe
        title = Title(
            recipe.model.name.removesuffix(".gguf") if recipe else no_model(snapshot.phase),
            engine_name(snapshot),
            self.machine,
            len(app.room.pending) if app.room else 0,
            app.opening.unkept,
        )
        self._screen.query_one(Header).show(title, snapshot.badges)

    def _show_meters(self) -> None:
        app = self._screen.spark
        readings = self._gauges.readings(len(app.session.conversation.waiting), self.memory_all)
        self._screen.query_one(Meters).show(readings)
        app.side.show(readings, self._gauges.numbers, app.session.snapshot)

    @property
    def proof_shown(self) -> str | None:
        """Name of the optimization that the panel is open on."""
        return self.proof.badge.name if self.proof is not None else None

    def close_proof(self) -> None:
        """Take the panel away."""
        panel, self.proof = self.proof, None
        if panel is not None:
            panel.remove()

    def show_proof(self, name: str) -> None:
        """Open the panel on the badge called `name`, or bring it up to date."""
        from spark_chat.optimizations.table import optimization

        badge = next((item for item in self._screen.spark.session.snapshot.badges if item.name == name), None)
        if badge is not None:
            item = optimization(name)
            about = About(item.label, item.costs, item.gains, item.published, self._engine_figures)
            if self.proof is not None:
                self.proof.show(badge, about)
            else:
                self.proof = ProofPanel(badge, about)
                self._screen.mount(self.proof, after="#header")
