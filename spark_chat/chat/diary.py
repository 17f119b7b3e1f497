"""What the app's log says of a sitting: how it began, each start of the engine, what failed, how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from spark_chat.chat.wording import failure_text
from spark_chat.driver.snapshot import Answered, Changed, Phase, Snapshot
from spark_chat.logs.app import AppLog

if TYPE_CHECKING:
    from spark_chat.driver.snapshot import Update
    from spark_chat.optimizations.optimization import Badge


class Diary:
    """Give it the driver's updates. `front`: which front end it is."""

    def __init__(self, log: AppLog, front: str) -> None:
        self._log, self._front = log, front
        self._phase = Phase.IDLE
        self._problems: tuple[str, ...] = ()
        self._begun = False
        self._shown: dict[str, str] = {}
        """What each badge read last, while an engine is up."""

    def update(self, update: Update) -> None:
        """One update of the driver."""
        self._begin()
        if isinstance(update, Changed):
            if update.snapshot.phase is not self._phase:
                self._phase = update.snapshot.phase
                self._log.write(_said(update.snapshot))
            self._badges(update.snapshot)
        elif isinstance(update, Answered) and update.failure is not None and update.failure.code != "overflow":
            self._log.write(f"an answer failed: {failure_text(update.failure)}")

    def _badges(self, snapshot: Snapshot) -> None:
        """What became of a badge since the engine came up; each change once."""
        now = {badge.name: _badge(badge) for badge in snapshot.badges}
        if snapshot.phase is Phase.READY:
            for badge in snapshot.badges:
                before = self._shown.get(badge.name, now[badge.name])
                if before != now[badge.name]:
                    why = f": {badge.reason}" if badge.reason else ""
                    self._log.write(f"{now[badge.name]} now, {before} before{why}")
        self._shown = now if snapshot.phase is Phase.READY else {}

    def problems(self, problems: Iterable[str]) -> None:
        """What is wrong with the settings now."""
        found = tuple(problems)
        for problem in found:
            if problem not in self._problems:
                self._log.write(f"settings: {problem}")
        self._problems = found

    def note(self, sentence: str) -> None:
        """Something else that went wrong, without a word of a conversation in it."""
        self._begin()
        self._log.write(sentence)

    def close(self) -> None:
        """The sitting is over."""
        if self._begun:
            self._log.write(f"{self._front} ended")
        self._log.close()

    def _begin(self) -> None:
        if not self._begun:
            from spark_chat import __version__

            self._begun = True
            self._log.write(f"spark-chat {__version__}, {self._front}")


def _said(snapshot: Snapshot) -> str:
    recipe, ready = snapshot.recipe, snapshot.ready
    what = f"engine {snapshot.phase.value}"
    if snapshot.phase is Phase.READY and ready is not None and recipe is not None:
        took = "" if snapshot.ready_s is None else f" after {snapshot.ready_s:.1f} s"
        badges = ", ".join(map(_badge, snapshot.badges))
        return f"{what}: {ready.engine} {ready.version} with {recipe.model.name}{took}; {badges}"
    if snapshot.phase is Phase.FAILED and snapshot.failure is not None:
        return f"{what}: {failure_text(snapshot.failure)}"
    if snapshot.progress is not None and snapshot.progress.text:
        return f"{what}: {snapshot.progress.text}"
    return what


def _badge(badge: Badge) -> str:
    return f"{badge.label} {badge.word or badge.state.value}"


def diary(front: str) -> Diary:
    """The one of this machine's log; where no place for it is known, nothing is kept."""
    from spark_chat.locations import NoHome
    from spark_chat.logs.files import app_file

    try:
        path = app_file()
    except NoHome:
        path = None
    return Diary(AppLog(path), front)
