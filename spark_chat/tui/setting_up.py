"""The first run's panel and what goes on behind it: offered once, brought back by /setup, never in the way.

The chat goes on with the small model meanwhile; only the last step, at the person's key, restarts the engine.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.driver.fitting import Facts
    from spark_chat.driver.setup import Setup, Standing, Step
    from spark_chat.settings.schema import Settings
    from spark_chat.tui.app import SparkApp


def facts(settings: Settings) -> Facts:
    """Of this machine."""
    from spark_chat.driver.setup import look
    from spark_chat.machine import machine

    return look(machine(), settings)


class SettingUp:
    """Of one app."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._setup: Setup | None = None
        self._hidden = False
        self._tour_waits = False
        self._shown: Step | None = None

    async def at_start(self) -> bool:
        """At the first start on this machine where nobody named a model, and at each one until what was begun is done.
        Whether it offers something: what else would be shown waits then."""
        from spark_chat.settings import set_up

        settings = self._app.resolved.settings
        before = await asyncio.to_thread(set_up.standing)
        if settings.engine.model.strip() or before in (set_up.SHOWN, set_up.DONE):
            return False
        if not before and not settings.ui.tour:
            return False
        await self._look(begun=before == set_up.BEGUN)
        assert self._setup is not None
        offers = self._setup.standing.fit.offers
        if before and not offers:
            await asyncio.to_thread(set_up.note, set_up.DONE)
            return False
        self._show()
        if not before:
            await asyncio.to_thread(set_up.note, set_up.SHOWN)
        self._tour_waits = offers
        return offers

    async def again(self) -> None:
        """/setup: what fits, looked up anew, or how far it is. Where it stands there already, it is taken down."""
        from spark_chat.tui.setup_notice import NAME

        view = self._app.chat.view
        if view.take_down(NAME):
            self._hidden = True
            return
        self._hidden = False
        if self._setup is None or self._setup.standing.step.value == "offered":
            await self._look()
        self._show()

    async def _look(self, begun: bool = False) -> None:
        from spark_chat.driver.setup import Setup

        found = await asyncio.to_thread(facts, self._app.choices.resolved.settings)
        self._setup = Setup(found, self._moved, begun)

    # ------------------------------------------------------------------ keys

    async def accept(self) -> None:
        """The go-on key."""
        from spark_chat.driver.setup import Step
        from spark_chat.settings import set_up
        from spark_chat.tui.setup_notice import NAME

        setup = self._setup
        if setup is None:
            return
        if setup.standing.runs:
            await setup.stop()
        elif setup.standing.step is Step.READY:
            self._hidden = True
            self._app.chat.view.take_down(NAME)
            self._app.actions.action_restart()
        else:
            setup.go_on(self._app.choices.resolved.settings)
            await asyncio.to_thread(set_up.note, set_up.BEGUN)

    def dismissed(self) -> None:
        """The person took it down. What runs goes on, and comes up again when it is over."""
        self._hidden = True
        if self._tour_waits:
            self._tour_waits = False
            self._app.run_worker(self._app.opening.show_tour(), name="tour", group="tour")

    def begun(self) -> None:
        """A prompt was sent: what only tells something goes, and an offer takes less room."""
        from spark_chat.tui.setup_notice import NAME

        if self._setup is None or self._hidden:
            return
        if self._setup.standing.fit.offers:
            self._show()
        else:
            self._hidden = True
            self._app.chat.view.take_down(NAME)

    async def close(self) -> None:
        """Stop what runs; the next start offers to go on."""
        if self._setup is not None:
            self._hidden = True
            await self._setup.stop()

    # ------------------------------------------------------------------ what is shown

    def _moved(self, standing: Standing) -> None:
        """It came a step further, or something changed about it."""
        from spark_chat.driver.setup import Step
        from spark_chat.settings import set_up

        app = self._app
        if app.opening.leaving or not app.is_running:
            return
        if standing.step is Step.READY:
            app.run_worker(asyncio.to_thread(set_up.note, set_up.DONE), name="setup", group="setup")
        if not standing.runs:
            self._hidden = False  # over, for better or worse
        if not self._hidden and not (app.accessible and self._only_figures(standing)):
            self._show()

    def _only_figures(self, standing: Standing) -> bool:
        """Whether no more than figures moved since it was shown."""
        return standing.runs and standing.step is self._shown

    def _show(self) -> None:
        from spark_chat.tui.setup_notice import notice

        if self._setup is None:
            return
        app, standing = self._app, self._setup.standing
        self._shown = standing.step
        brief = bool(len(app.session.conversation))
        app.chat.view.put(notice(standing, brief, app.choices.resolved.settings.engine.model.strip()))
