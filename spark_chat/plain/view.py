"""What the plain chat says of a sitting, in reading order and each thing once: the text of an answer as it comes, its
numbers when it is over. Nothing is written twice and nothing is written by a timer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spark_chat.chat.conversation import Conversation, Exchange, Stage
from spark_chat.chat.wording import end_line, failure_text, thought_note
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.headless.narrator import Narrator

if TYPE_CHECKING:
    from spark_chat.chat.session import Overflow
    from spark_chat.meters.numbers import AnswerNumbers
    from spark_chat.plain.output import Output

LOG_LINES = 8


class PlainView:
    """Implements `session.View`. `moved` is called after each change, for who waits for one."""

    def __init__(self, output: Output, moved: Callable[[], None], interactive: bool) -> None:
        self._output, self._moved, self._interactive = output, moved, interactive
        self._narrator = Narrator(output.say)
        self._snapshot = Snapshot()
        self._answers = 0
        self._begun = ""
        self._badges = ""
        self.failed = False
        """Whether a prompt got no whole answer for a reason that was not the person's."""

    def changed(self, snapshot: Snapshot) -> None:
        was, self._snapshot = self._snapshot, snapshot
        self._narrator.snapshot(snapshot)
        if snapshot.phase is not was.phase:
            if snapshot.phase is Phase.READY:
                self._narrator.started(snapshot)
            elif snapshot.phase is Phase.FAILED:
                self._tell_failed(snapshot)
            elif snapshot.phase is Phase.ASKING:
                yes = "/go fetches it." if self._interactive else "Start spark-chat on a terminal and give it there."
                self._output.say(f"{snapshot.progress.text if snapshot.progress else 'A model is missing'}. {yes}")
        self._moved()

    def _tell_badges(self) -> None:
        """Each badge in words; again only where a state is another one now."""
        badges = self._snapshot.badges
        said = ", ".join(f"{badge.label} {badge.word or badge.state.value.lower()}" for badge in badges)
        if said and said != self._badges:
            self._badges = said
            self._output.say(f"{said}.")

    def _tell_failed(self, snapshot: Snapshot) -> None:
        failure = snapshot.failure
        self._output.say(failure_text(failure) if failure else "The engine stopped.")
        if snapshot.log_end:
            self._output.say("The end of the engine's log:")
            for line in snapshot.log_end[-LOG_LINES:]:
                self._output.say(f"  {line}")
        if self._interactive:
            self._output.say("/restart starts it again; prompts that wait are kept." + (
                " /go goes back to the settings that ran last." if snapshot.last_good else ""
            ))  # fmt: skip

    def asked(self, exchange: Exchange) -> None:
        if self._interactive and self._snapshot.phase not in (Phase.READY, Phase.FAILED):
            self._output.say("It is sent when the engine is ready.")
        self._moved()

    def staged(self, exchange: Exchange) -> None:
        self._moved()

    def piece(self, exchange: Exchange, text: str, reasoning: str, numbers: AnswerNumbers) -> None:
        if self._begun != exchange.id:
            text = text.lstrip("\n")
            if not text:
                return
            self._begun = exchange.id
            if self._answers:
                self._output.answer("\n")
            self._answers += 1
        self._output.answer(text)

    def recast(self, exchange: Exchange) -> None:
        """What was printed stays; that it was no answer is said where it ends."""
        if self._begun == exchange.id:
            self._output.end_line()
            self._output.say("[so far it reasoned; the answer follows]")
            self._begun = ""

    def ended(self, exchange: Exchange) -> None:
        self._output.end_line()
        if exchange.stage is Stage.STOPPED:
            words = ["stopped" if exchange.began else "taken back, not sent"]
        else:
            words = ["failed"] if exchange.stage is Stage.FAILED else []
        thought = thought_note(exchange.numbers)
        line = end_line(exchange, ", ") if exchange.began or exchange.stage is Stage.FAILED else ""
        said = [*words, *([f"reasoned {thought.replace(' · ', ', ')}"] if thought else []), *([line] if line else [])]
        if said:
            self._output.say(f"[{', '.join(said)}]")
        if exchange.failure is not None and exchange.failure.code != "overflow":
            self._output.say(failure_text(exchange.failure))
        self.failed = self.failed or exchange.stage is Stage.FAILED
        if self._snapshot.phase is Phase.READY:
            self._tell_badges()
        self._moved()

    def turned(self, conversation: Conversation, place: int) -> None:
        """Nothing that was printed changes."""

    def overflowed(self, overflow: Overflow | None) -> None:
        if overflow is not None:
            turns = "the oldest turn" if overflow.drop == 1 else f"the {overflow.drop} oldest turns"
            offer = f"/go leaves out {turns}, which stay kept." if overflow.drop else "Shorten the prompt."
            if not self._interactive:
                offer = "It is passed over. Give less, or set engine.context to more."
            self._output.say(
                f"The conversation has {overflow.least}{overflow.prompt_tokens:,} tokens and the context holds "
                f"{overflow.context:,}: {overflow.least}{overflow.excess:,} too many. {offer}"
            )
        self._moved()
