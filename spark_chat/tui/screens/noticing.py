"""What stands above the composer: the notices of the engine and of the app, and which of them a person took down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from spark_chat.chat.session import Overflow
from spark_chat.tui import notices
from spark_chat.tui.widgets.notice import Notice, NoticePanel

if TYPE_CHECKING:
    from spark_chat.tui.screens.chat import ChatScreen

SAID_FOR_S = 6.0
"""A sentence that goes away by itself does so after this long."""


class Noticing:
    """Works out which notices stand there."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._own: dict[str, Notice] = {}
        self._dismissed: set[str] = set()
        self._overflow: Overflow | None = None
        self._saying: Timer | None = None
        self._said_until = 0.0

    def put(self, notice: Notice) -> None:
        """Put up a notice of the app's own."""
        self._own[notice.name] = notice
        self._dismissed.discard(notice.name)
        self.show_notices()

    def say(self, sentence: str, seconds: float = SAID_FOR_S) -> None:
        """A sentence that goes away by itself; the newest takes the place of the one before."""
        self.put(notices.said(sentence))
        self._said_until = self._screen.spark.clock() + seconds
        self._go_on_saying(seconds)

    def _go_on_saying(self, seconds: float) -> None:
        if self._saying is not None:
            self._saying.stop()
        self._saying = self._screen.set_timer(seconds, self._said)

    def _said(self) -> None:
        """By the app's clock, as the two seconds of ctrl+c are: what is said of them stands as long as they last."""
        left = self._said_until - self._screen.spark.clock()
        if left > 0:
            self._go_on_saying(left)
        else:
            self.take_down("said")

    def take_down(self, name: str) -> bool:
        """Whether it stood there."""
        if self._own.pop(name, None) is None:
            return False
        self.show_notices()
        return True

    def dismiss(self) -> bool:
        """Take down the topmost notice that may be. False where there is none."""
        for notice in self._screen.query_one(NoticePanel).drawn:
            if notice.dismissable:
                self._own.pop(notice.name, None)
                self._dismissed.add(notice.name)
                if notice.name == "overflow":
                    self._screen.spark.session.let_be()
                elif notice.name == "setup":
                    self._screen.spark.setting_up.dismissed()
                self.show_notices()
                return True
        return False

    @property
    def accept(self) -> str:
        """What the go-on key would do now: the topmost offer's name for it."""
        shown = self._screen.query_one(NoticePanel).drawn
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
        self._screen.query_one(NoticePanel).show(notices.one_go_on(found))
