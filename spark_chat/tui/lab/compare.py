"""The same prompts under several settings: the engine restarts between them, the chat's own waits meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from spark_chat.lab import archive
from spark_chat.lab.bench import Bench
from spark_chat.lab.item import BadWorkload
from spark_chat.lab.live import compare_lines
from spark_chat.lab.narration import Narration
from spark_chat.lab.plan import Plan, origins
from spark_chat.lab.report import as_lines
from spark_chat.lab.variation import BadVariation, axes, configurations, toggles
from spark_chat.lab.wish import wish
from spark_chat.lab.workload import DEFAULT, workload
from spark_chat.optimizations.optimization import State
from spark_chat.optimizations.table import optimization
from spark_chat.tui.lab.chart import Chart
from spark_chat.tui.lab.options import packed
from spark_chat.tui.plain import Plain

if TYPE_CHECKING:
    from spark_chat.driver.snapshot import Snapshot
    from spark_chat.lab.report import Record
    from spark_chat.lab.results import AnyFound
    from spark_chat.lab.runner import Standing
    from spark_chat.meters.numbers import AnswerNumbers
    from spark_chat.tui.app import SparkApp

ROUNDS = (0, 3, 5, 10, 1, 2)
"""0: what the workload says, 1 to 3."""
LIVE_EVERY_S = 0.25


class CompareScreen(Screen[None]):
    """What is varied, over which prompts, and the table as it grows."""

    AUTO_FOCUS = "OptionList"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-tall")]
    DEFAULT_CSS = """
    CompareScreen { layout: vertical; }
    CompareScreen #compare-title { height: 1; padding: 0 2; text-style: bold; }
    CompareScreen #compare-prompts { height: 1; margin: 0 2; }
    CompareScreen #compare-toggles { height: auto; max-height: 5; border: none; padding: 0 1; background: transparent; }
    CompareScreen #compare-options { height: auto; padding: 0 2; color: $text-muted; }
    CompareScreen #compare-status { height: auto; padding: 0 2; color: $text-accent; }
    CompareScreen #compare-found { height: 1fr; padding: 0 2; }
    CompareScreen #compare-table { height: auto; width: 1fr; }
    CompareScreen.-low #compare-title { display: none; }
    CompareScreen.-low Chart { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Stop, or back to the chat", id="compare.back", show=False, priority=True),
        Binding("f5,ctrl+r", "run", "Run the comparison", id="compare.run", show=False, priority=True),
        Binding("f6", "rounds", "Number of rounds", id="compare.rounds", show=False, priority=True),
        Binding("f8", "cumulative", "All, or one after the other", id="compare.ladder", show=False, priority=True),
        Binding("pageup", "page(-1)", "Earlier lines of the table", id="compare.earlier", show=False, priority=True),
        Binding("pagedown", "page(1)", "Later lines of the table", id="compare.later", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.varied = ["mtp"]
        self.rounds, self.cumulative = ROUNDS[0], False
        self._bench: Bench | None = None
        self._plan: Plan | None = None
        self._narration: Narration | None = None
        self._found: list[AnyFound] = []
        self._record: Record | None = None
        self._live_at = 0.0
        self._next_answer = True

    def compose(self) -> ComposeResult:
        yield Plain("compare   the same prompts under several settings, on its own engines", id="compare-title")
        yield OptionList(id="compare-toggles", markup=False)
        yield Input(
            " ".join(DEFAULT),
            id="compare-prompts",
            placeholder="chat, code, gsm8k --data FILE, or a file",
            compact=True,
        )
        yield Plain(id="compare-options")
        yield Plain(id="compare-status")
        yield Chart()
        with VerticalScroll(id="compare-found"):
            yield Plain(id="compare-table")

    @property
    def spark(self) -> SparkApp:
        return cast("SparkApp", self.app)

    def on_mount(self) -> None:
        self._show_options()

    def show(self, sentence: str = "") -> None:
        """The settings changed while this stands open."""
        self._show_options()

    # ------------------------------------------------------------------ options

    def _show_options(self) -> None:
        self.varied = [name for name in self.varied if not self._never(name)]
        listing = self.query_one(OptionList)
        at = listing.highlighted
        listing.set_options([Option(self._toggle_text(name), id=name) for name in toggles()])
        listing.highlighted = at if at is not None else 0
        rounds = (
            f"{self.rounds} round{'s' if self.rounds > 1 else ''}" if self.rounds else "1 to 3 rounds, by the prompts"
        )
        how = "one added after the other" if self.cumulative else "all combinations"
        items = ("f5 run", "enter vary or not", f"f6 {rounds}", f"f8 {how}", "tab prompts", "esc back")
        self.query_one("#compare-options", Plain).show(packed(items, self.size.width - 4))

    def on_resize(self) -> None:
        """The line of options breaks elsewhere, and so do tables."""
        self._show_options()
        if self._record is not None:
            self._show("\n".join(as_lines(self._record, self._width)))

    def action_page(self, step: int) -> None:
        """Scroll the table, from wherever the cursor is."""
        found = self.query_one("#compare-found", VerticalScroll)
        found.scroll_relative(y=step * max(1, found.size.height - 1), animate=False)

    def _toggle_text(self, name: str) -> str:
        """One toggle; where it can do nothing here, why."""
        never = self._never(name)
        if never:
            return f"[ ] {optimization(name).label}: not here, {never}"
        return f"{'[x]' if name in self.varied else '[ ]'} {optimization(name).label}: off, then on"

    def _never(self, name: str) -> str:
        """Why it can't run on this engine and machine, in words; "" where it can, or no engine was up yet."""
        badge = next((item for item in self.spark.session.snapshot.badges if item.name == name), None)
        return badge.reason if badge is not None and badge.state is State.UNAVAILABLE else ""

    @on(OptionList.OptionSelected)
    def _toggle(self, event: OptionList.OptionSelected) -> None:
        name = event.option.id or ""
        if never := self._never(name):
            self.say(f"{optimization(name).label} is not to be had here: {never}")
            return
        self.say("")
        self.varied = [item for item in toggles() if (item in self.varied) != (item == name)]
        self._show_options()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_run()

    def action_rounds(self) -> None:
        """The next number of rounds."""
        self.rounds = ROUNDS[(ROUNDS.index(self.rounds) + 1) % len(ROUNDS)]
        self._show_options()

    def action_cumulative(self) -> None:
        """All combinations, or the ladder."""
        self.cumulative = not self.cumulative
        self._show_options()

    # ------------------------------------------------------------------ running

    @property
    def running(self) -> bool:
        return self._bench is not None

    def say(self, sentence: str) -> None:
        """What goes on, or why nothing does."""
        if self.is_mounted:
            self.query_one("#compare-status", Plain).show(sentence)

    def action_run(self) -> None:
        """Run the comparison, where nothing stands in its way."""
        app = self.spark
        if self.running:
            self.say("A comparison runs already; esc stops it.")
        elif app.session.busy:
            self.say("An answer is being written: stop it, or wait for its end.")
        elif app.room is None:
            self.say("The chat is still opening.")
        else:
            self.run_worker(self._prepare(), name="compare", exclusive=True)

    async def _prepare(self) -> None:
        try:
            asked = wish(self.query_one(Input).value)
            work = await asyncio.to_thread(workload, asked.sources, asked.data, asked.questions)
            found = axes([f"{name}=off,on" for name in self.varied])
            room = self.spark.room
            assert room is not None
            items = configurations(room.started_with, found, self.cumulative)
        except (BadWorkload, BadVariation) as problem:
            self.say(str(problem))
            return
        plan = Plan(
            items, work, self.rounds or work.rounds, cumulative=self.cumulative, keys=tuple(item.key for item in found),
            origins=origins(self.spark.choices.resolved), sampled=asked.sampled, fresh=asked.fresh,
            max_tokens=asked.max_tokens, ignore_eos=asked.fixed_length,
        )  # fmt: skip
        going_on = await asyncio.to_thread(archive.unfinished, plan.digest) if asked.resume else None
        if asked.resume and going_on is None:
            self.say("No run of these prompts under these settings was cut off. Start it without --resume.")
            return
        await self._run(plan, going_on)

    async def _run(self, plan: Plan, going_on: archive.Unfinished | None) -> None:
        app = self.spark
        room = app.room
        assert room is not None
        self._plan, self._found, self._record = plan, [], None
        self._narration = Narration(plan, self.say)
        self._bench = Bench(
            plan, self, app.measuring_driver, keep=app.resolved.settings.ui.history, going_on=going_on
        )  # fmt: skip
        self.say("The chat's engine makes room.")
        try:
            await room.driver.stop()
            made = await self._bench.run()
            self._record = made.record
            self._show("\n".join(as_lines(made.record, self._width)))
            stopped = "Stopped; this is what was measured. " if made.record["interrupted"] else ""
            said = f"{stopped}Kept as {made.record['id']}." if made.record["id"] else f"{stopped}Done."
            if stopped and made.record["id"]:
                said += " --resume after the prompts goes on."
            self.say(made.problem or said)
        finally:
            self._bench = None
            if app.is_running and not app.opening.leaving:
                app.start(room.driver.restart(room.started_with))

    # what the bench tells

    def snapshot(self, snapshot: Snapshot) -> None:
        """Of the engine that is measured, which is not the chat's."""
        if self._narration is not None:
            self._narration.snapshot(snapshot)

    def found(self, found: AnyFound, standing: Standing) -> None:
        """Something came."""
        self._found.append(found)
        if self._narration is not None and self._plan is not None:
            self._narration.found(found, standing)
            self._show("\n".join(compare_lines(self._plan, self._found, self._width)))
        self._next_answer = True

    def piece(self, numbers: AnswerNumbers) -> None:
        """The answer under way."""
        now = self.spark.clock()
        if not self.spark.accessible and self.is_mounted and now - self._live_at >= LIVE_EVERY_S:
            self._live_at = now
            if self._next_answer:  # the one before stays in view until then
                self._next_answer = False
                self.query_one(Chart).clear()
            self.query_one(Chart).add(numbers.live_tok_s, numbers.live_accept_length)

    @property
    def _width(self) -> int:
        """Columns that a table has."""
        return self.query_one("#compare-table").container_size.width or self.size.width

    def _show(self, text: str) -> None:
        if self.is_mounted:
            self.query_one("#compare-table", Plain).show(text)

    # ------------------------------------------------------------------ leaving

    def action_back(self) -> None:
        """Stop what runs; else back to the chat."""
        if self._bench is not None:
            self._bench.interrupt()
            self.say("Stopping; what was measured is kept.")
        else:
            self.dismiss()

    def on_unmount(self) -> None:
        if self._bench is not None:
            self._bench.interrupt()
