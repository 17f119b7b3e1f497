"""What the chat screen shows of a sitting: told of everything by the session, it fills the widgets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.timer import Timer

from spark_chat.chat.conversation import Conversation, Exchange, Stage
from spark_chat.chat.session import Overflow
from spark_chat.driver.lingering import QUEUE, took_over
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.settings.schema import Settings
from spark_chat.tui import notices
from spark_chat.tui.pace import share
from spark_chat.tui.screens.gauges import Gauges
from spark_chat.tui.screens.names import engine_name, no_model
from spark_chat.tui.transcribing import (
    end_line,
    entries_of,
    failure_text,
    reading_note,
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
from spark_chat.tui.widgets.notice import Notice, NoticePanel
from spark_chat.tui.widgets.proof import About, ProofPanel

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Ready
    from spark_chat.tui.lab.chart import Chart
    from spark_chat.tui.screens.chat import ChatScreen

READING_EVERY_S = 1.0
"""The seconds of a prompt that is being read go on at this step."""

SAID_FOR_S = 6.0
"""A sentence that goes away by itself does so after this long."""


class ChatView:
    """Implements `session.View` on the widgets of a chat screen."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._own: dict[str, Notice] = {}
        self._dismissed: set[str] = set()
        self._overflow: Overflow | None = None
        self._gauges = Gauges()
        self._reading: Timer | None = None
        self.proof: ProofPanel | None = None
        """The panel that is open on a badge."""
        self._engine_figures: Mapping[str, object] = {}
        self._saying: Timer | None = None
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
            self._transcript.add_answer(exchange.id, short_name(exchange.model))
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

    def ended(self, exchange: Exchange) -> None:
        self._transcript.set_mark(exchange.id, "" if exchange.began else unsent_mark(exchange))
        if exchange.engine_figures:
            self._engine_figures = exchange.engine_figures
        if exchange.began:
            line, note = end_line(exchange), thought_note(exchange.numbers)
            self._transcript.finish(exchange.id, line, transcript_state(exchange), note)
            self._end_reading(exchange)
            self._gauges.numbers = exchange.numbers
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
        """Say how long the prompt has been read, from `since` (seconds), and how far the reading is where that is
        known."""
        seconds = int(self._screen.spark.clock() - since)
        progress = self._screen.spark.session.snapshot.progress
        doing = "waits for another window's answer" if progress and progress.stage == QUEUE else "reading the prompt"
        self._transcript.set_status(exchange.id, f"{doing} · {seconds} s{reading_note(exchange)}")

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
            if said := took_over(snapshot.ready):
                self.say(f"{said[0].upper()}{said[1:]}.")
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

    def restored(self, conversation: Conversation) -> None:
        """Another conversation stands there now."""
        self._screen.spark.weighing.changed()
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

    def toggle_reasoning(self) -> bool:
        """Open or fold the last thought; False where there is none."""
        return self._transcript.toggle_reasoning()

    def text_to_copy(self, what: str) -> str | None:
        """The last answer, all of the conversation, or the last answer's code; None for another word."""
        exchanges = self._screen.spark.session.conversation.exchanges
        answers = [str(item.answer) for item in exchanges if item.answer]
        if what == "all":
            return "\n\n".join(f"> {item.prompt}\n\n{item.answer}" for item in exchanges)
        if what == "code":
            blocks = re.findall(r"^```[^\n]*\n(.*?)^```", answers[-1], re.S | re.M) if answers else []
            return str(blocks[-1]) if blocks else ""
        return None if what else answers[-1] if answers else ""

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
        )
        self._screen.query_one(Header).show(title, snapshot.badges)

    def _show_meters(self) -> None:
        session = self._screen.spark.session
        queue = len(session.conversation.waiting)
        self._screen.query_one(Meters).show(self._gauges.readings(queue, self.memory_all))

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

    # ------------------------------------------------------------------ notices

    def put(self, notice: Notice) -> None:
        """Put up a notice of the app's own."""
        self._own[notice.name] = notice
        self._dismissed.discard(notice.name)
        self.show_notices()

    def say(self, sentence: str, seconds: float = SAID_FOR_S) -> None:
        """A sentence that goes away by itself; the newest takes the place of the one before."""
        if self._saying is not None:
            self._saying.stop()
        self.put(notices.said(sentence))
        self._saying = self._screen.set_timer(seconds, lambda: self.take_down("said"))

    def take_down(self, name: str) -> None:
        if self._own.pop(name, None):
            self.show_notices()

    def dismiss(self) -> bool:
        """Take down the topmost notice that may be. False where there is none."""
        for notice in self._screen.query_one(NoticePanel).notices:
            if notice.dismissable:
                self._own.pop(notice.name, None)
                self._dismissed.add(notice.name)
                if notice.name == "overflow":
                    self._screen.spark.session.let_be()
                self.show_notices()
                return True
        return False

    @property
    def accept(self) -> str:
        """What the go-on key would do now: the topmost offer's name for it."""
        shown = self._screen.query_one(NoticePanel).notices
        return next((notice.accept for notice in shown if notice.accept), "")

    def show_notices(self) -> None:
        """Work out what stands above the composer."""
        app = self._screen.spark
        session = app.session
        found: list[Notice] = []
        waiting = len(session.conversation.waiting)
        fallback = "; ".join(map(str, app.room.fallback)) if app.room else ""
        engine = notices.engine_notice(session.snapshot, waiting, fallback, app.started_before)
        if engine is None or engine.name != "failed":
            self._dismissed.discard("failed")
        if engine is not None and engine.name not in self._dismissed:
            found.append(engine)
        if self._overflow is not None:
            found.append(notices.overflow_notice(self._overflow))
        else:
            self._dismissed.discard("overflow")
        found += self._own.values()
        found.sort(key=lambda notice: notices.ORDER.index(notice.name))
        self._screen.query_one(NoticePanel).show(tuple(found))
