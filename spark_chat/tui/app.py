"""The app: puts the screens, the sitting, the engine and the journal together. It decides nothing itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.screen import Screen

from spark_chat.chat.session import Session
from spark_chat.tui.actions import Actions
from spark_chat.tui.screens.chat import ChatScreen

if TYPE_CHECKING:
    from spark_chat.chat.engine_room import Driving, EngineRoom
    from spark_chat.driver.snapshot import Update
    from spark_chat.history.journal import Journal
    from spark_chat.settings.resolve import Resolved

Listener = Callable[["Update"], None]


def _real_driver(listener: Listener) -> Driving:
    from spark_chat.driver.driver import Driver

    return Driver(listener)


class SparkApp(App[int]):
    """`driver`: makes the engine's driver for a listener. `clock`: monotonic seconds. Tests give their own."""

    TITLE = "spark-chat"
    CSS_PATH = "spark.tcss"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = True

    def __init__(
        self,
        resolved: Resolved,
        *,
        driver: Callable[[Listener], Driving] = _real_driver,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.resolved, self.clock, self._new_driver = resolved, clock, driver
        self.accessible = resolved.settings.ui.accessible
        self.chat = ChatScreen()
        self.session = Session(self.chat.view, resolved.settings, clock)
        self.actions = Actions(self)
        self.room: EngineRoom | None = None
        self.journal: Journal | None = None
        self.started_before = True

    def get_default_screen(self) -> Screen[Any]:
        return self.chat

    def on_mount(self) -> None:
        self.call_after_refresh(self.run_worker, self.actions.open(), name="open", exit_on_error=True)

    def listen(self, update: Update) -> None:
        """What the driver tells."""
        if self.is_running:
            self.session.update(update)

    def make_driver(self) -> Driving:
        return self._new_driver(self.listen)

    def run_command(self, name: str, argument: str = "") -> None:
        """Do what the table's command `name` says."""
        self.actions.do(name, argument)

    async def action_quit(self) -> None:
        await self.actions.leave()


def run(resolved: Resolved) -> int:
    """Open the chat. Returns the exit code."""
    app = SparkApp(resolved)
    return app.run(mouse=resolved.settings.ui.mouse) or app.return_code or 0
