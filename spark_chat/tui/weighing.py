"""Weighs what is being written against the context that is left: by the engine's own count, once nobody types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_chat.chat.coming import turns_with
from spark_chat.driver.snapshot import Phase
from spark_chat.tui.composer.hint import Weight

if TYPE_CHECKING:
    from textual.timer import Timer

    from spark_chat.tui.app import SparkApp

AFTER_S = 0.4
"""Seconds without a key, after which it is counted."""
LONGEST = 4_000_000
"""Characters of all that would be sent; what is longer is not counted at every pause."""


class Weighing:
    """Of one app. A count is shown as long as it is of what stands there; while an answer runs there is none, since
    it will be a part of what is sent next."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._timer: Timer | None = None

    def changed(self) -> None:
        """What is written, the conversation or the engine changed: what was counted holds no longer."""
        app = self._app
        if app.accessible:  # nothing repaints by itself there
            return
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        composer = app.chat.composer
        written = not composer.is_empty and not composer.is_command and not app.session.busy
        app.chat.composer.weigh(None, soon=written)
        if written:
            self._timer = app.chat.set_timer(AFTER_S, self._count)

    def _count(self) -> None:
        self._timer = None
        self._app.run_worker(self.weigh(), name="weigh", group="weigh", exclusive=True)

    async def weigh(self) -> None:
        """Count what stands there and show it, where the engine can tell."""
        composer = self._app.chat.composer
        text, files = composer.text, composer.attaching.files
        counted = await self._weighed(text, list(files.values()))
        if composer.text != text:
            return
        weight, each = counted if counted is not None and not self._app.session.busy else (None, [])
        composer.weigh(weight)
        composer.attaching.weigh(dict(zip(files, each, strict=False)))

    async def _weighed(self, text: str, files: list[str]) -> tuple[Weight, list[int]] | None:
        """The weight of `text`, and the tokens of each of `files`; None where there is nobody to count."""
        session, room = self._app.session, self._app.room
        ready = session.snapshot.ready
        if room is None or ready is None or session.snapshot.phase is not Phase.READY or session.busy or not text:
            return None
        turns = turns_with(session.conversation, text, session.system_prompt)
        if sum(len(turn.content) for turn in turns) > LONGEST:
            return None
        count = await room.driver.counting.count(turns, [text, *files], session.thinking)
        if count is None or count.prompt_tokens is None:
            return None
        whole, *each = count.text_tokens
        return Weight(whole, count.prompt_tokens, ready.context), each
