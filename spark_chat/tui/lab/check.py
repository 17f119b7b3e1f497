"""Paste a prompt and see what it costs: several runs on the engine as it is, none of it in the conversation."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import TextArea

from spark_chat.driver.snapshot import Phase
from spark_chat.lab.check import Check, Options, plan_of
from spark_chat.lab.live import check_lines
from spark_chat.lab.plan import origins
from spark_chat.lab.report import limit_lines
from spark_chat.tui.lab.chart import Chart
from spark_chat.tui.lab.keeping import kept, made
from spark_chat.tui.lab.options import packed
from spark_chat.tui.plain import Plain
from spark_chat.tui.widgets.area import Area

if TYPE_CHECKING:
    from spark_chat.lab.results import Answer
    from spark_chat.meters.numbers import AnswerNumbers
    from spark_chat.tui.app import SparkApp

RUNS = (5, 10, 20, 1, 3)
TOKENS = (256, 512, 1024, 2048, 64, 128)
LIVE_EVERY_S = 0.25
NO_BARS = {ord("█"): " ", ord("▏"): " "}


class CheckScreen(Screen[None]):
    """`text`: the prompt that stands there at first; with `at_once` it is run."""

    AUTO_FOCUS = "TextArea"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-tall")]
    DEFAULT_CSS = """
    CheckScreen { layout: vertical; }
    CheckScreen #check-title { height: 1; padding: 0 2; text-style: bold; }
    CheckScreen #check-prompt { height: 1fr; min-height: 3; max-height: 8; margin: 0 1; }
    CheckScreen #check-options { height: auto; padding: 0 2; color: $text-muted; }
    CheckScreen #check-status { height: auto; padding: 0 2; color: $text-accent; }
    CheckScreen #check-found { height: 2fr; padding: 0 2; }
    CheckScreen #check-table { height: auto; width: 1fr; }
    CheckScreen.-low #check-title { display: none; }
    CheckScreen.-low Chart { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Stop, or back to the chat", id="check.back", show=False, priority=True),
        Binding("f5,ctrl+r", "run", "Run the check", id="check.run", show=False, priority=True),
        Binding("f4", "switch('fresh')", "Defeat the prefix cache", id="check.fresh", show=False, priority=True),
        Binding("f6", "step('runs')", "Number of runs", id="check.runs", show=False, priority=True),
        Binding("f7", "step('max_tokens')", "Longest answer", id="check.tokens", show=False, priority=True),
        Binding("f8", "switch('sampled')", "Greedy or sampled", id="check.sampled", show=False, priority=True),
        Binding("f9", "switch('fixed_length')", "Fixed length", id="check.fixed", show=False, priority=True),
        Binding("pageup", "page(-1)", "Earlier lines of the table", id="check.earlier", show=False, priority=True),
        Binding("pagedown", "page(1)", "Later lines of the table", id="check.later", show=False, priority=True),
    ]

    def __init__(self, text: str = "", at_once: bool = False) -> None:
        super().__init__()
        self._prompt, self._at_once = text, at_once
        self.options = Options()
        self.answers: list[Answer] = []
        self._measuring: Check | None = None
        self._below: list[str] = []
        self._live_at = 0.0
        self._next_answer = True

    def compose(self) -> ComposeResult:
        yield Plain("check   what a prompt costs; nothing of it enters the conversation", id="check-title")
        yield Area(self._prompt, id="check-prompt", placeholder="Paste a prompt here.", compact=True)
        yield Plain(id="check-options")
        yield Plain(id="check-status")
        yield Chart()
        with VerticalScroll(id="check-found", can_focus=False):
            yield Plain(id="check-table")

    @property
    def spark(self) -> SparkApp:
        return cast("SparkApp", self.app)

    def on_mount(self) -> None:
        self._show_options()
        self.query_one(TextArea).move_cursor(self.query_one(TextArea).document.end)
        if self._at_once:
            self.action_run()

    def show(self, sentence: str = "") -> None:
        """The settings changed while this stands open."""
        self._show_options()

    # ------------------------------------------------------------------ options

    def _show_options(self) -> None:
        options = self.options
        how = "the chat's sampling" if options.sampled else "greedy"
        length = f"{'exactly' if options.fixed_length else 'up to'} {options.max_tokens:,} tokens"
        cache = "fresh prefix" if options.fresh else "cache as it is"
        items = ("f5 run", f"f6 {options.runs} runs", f"f7/f9 {length}", f"f8 {how}", f"f4 {cache}", "esc back")
        self.query_one("#check-options", Plain).show(packed(items, self.size.width - 4))

    def on_resize(self) -> None:
        """The line of options breaks elsewhere, and the table may be one or several."""
        self._show_options()
        self._show_table()

    def action_page(self, step: int) -> None:
        """Scroll the table, from wherever the cursor is."""
        found = self.query_one("#check-found", VerticalScroll)
        found.scroll_relative(y=step * max(1, found.size.height - 1), animate=False)

    def action_switch(self, name: str) -> None:
        """Switch one of the options."""
        self.options = replace(self.options, **{name: not getattr(self.options, name)})
        self._show_options()

    def action_step(self, name: str) -> None:
        """The next of an option's values."""
        values = RUNS if name == "runs" else TOKENS
        at = values.index(getattr(self.options, name))
        changes: dict[str, int] = {name: values[(at + 1) % len(values)]}
        self.options = replace(self.options, **changes)  # type: ignore[arg-type]
        self._show_options()

    # ------------------------------------------------------------------ running

    @property
    def running(self) -> bool:
        return self._measuring is not None

    def say(self, sentence: str) -> None:
        """What goes on, or why nothing does."""
        if self.is_mounted:
            self.query_one("#check-status", Plain).show(sentence)

    def action_run(self) -> None:
        """Run the check, where nothing stands in its way."""
        app, text = self.spark, self.query_one(TextArea).text
        obstacle = (
            "A check runs already; esc stops it." if self.running
            else "There is no prompt yet: paste one above." if not text.strip()
            else "An answer is being written: stop it, or wait for its end." if app.session.busy
            else "The engine is not up yet." if app.room is None or app.session.snapshot.phase is not Phase.READY
            else ""
        )  # fmt: skip
        if obstacle or app.room is None:
            self.say(obstacle)
            return
        sampling = replace(app.session.settings.sampling, thinking=app.session.thinking)
        settings = replace(app.room.started_with, sampling=sampling)
        self.answers, self._below = [], []
        self._show_table()
        plan = replace(plan_of(text, self.options, settings), origins=origins(app.choices.resolved))
        self._measuring = Check(plan, app.room.driver, self._answered, self._piece)
        app.bystander = self._measuring.take
        self.say("Warming up.")
        self.run_worker(self._run(self._measuring), name="check", exclusive=True)

    async def _run(self, check: Check) -> None:
        app = self.spark
        try:
            found = await check.run()
            done = sum(answer.counts for answer in self.answers)
            stopped = "Stopped. " if check.interrupted else ""
            failure = next((answer.failure for answer in self.answers if answer.failure), None)
            said = failure or f"{stopped}{done} of {check.plan.rounds} runs counted."
            self.say(said)
            if done:
                recipe = app.session.snapshot.recipe
                path = recipe.model.path if recipe else ""
                record = await asyncio.to_thread(made, check.plan, found, check.interrupted, path)
                self._below = [*limit_lines(record), *record["notes"]]
                self._show_table()
                keep = app.resolved.settings.ui.history and await asyncio.to_thread(kept, record)
                self.say(f"{said} Kept as {record['id']}." if keep else said)
        finally:
            self._measuring = None
            app.bystander = None

    def _answered(self, answer: Answer) -> None:
        self.answers.append(answer)
        left = self.options.runs - sum(item.role == "measured" for item in self.answers)
        self.say(f"{left} to go; esc stops." if left else "")
        self._show_table()
        self._next_answer = True

    def _piece(self, numbers: AnswerNumbers) -> None:
        now = self.spark.clock()
        if self.spark.accessible or not self.is_mounted or now - self._live_at < LIVE_EVERY_S:
            return
        self._live_at = now
        self._show_table(numbers)
        if self._next_answer:  # the one before stays in view until then
            self._next_answer = False
            self.query_one(Chart).clear()
        self.query_one(Chart).add(numbers.live_tok_s, numbers.live_accept_length)

    def _show_table(self, now: AnswerNumbers | None = None) -> None:
        if self.is_mounted:
            width = self.query_one("#check-table").container_size.width or self.size.width
            lines = [*check_lines(self.answers, now, width), "", *self._below] if self.answers or now else []
            if self.spark.accessible:  # the figures stand behind the bars
                lines = [line.translate(NO_BARS) for line in lines]
            self.query_one("#check-table", Plain).show("\n".join(lines).rstrip())

    # ------------------------------------------------------------------ leaving

    def action_back(self) -> None:
        """Stop what runs; else back to the chat."""
        if self._measuring is not None:
            self._measuring.interrupt()
            self.say("Stopping.")
        else:
            self.dismiss()

    def on_unmount(self) -> None:
        if self._measuring is not None:
            self._measuring.interrupt()
