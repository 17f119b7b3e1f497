"""Whether the panel at the side is open: by the setting, by the room there is, and by the person's own key."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.driver.snapshot import Snapshot
    from spark_chat.meters.numbers import AnswerNumbers
    from spark_chat.tui.app import SparkApp
    from spark_chat.tui.widgets.meters import Readings
    from spark_chat.tui.widgets.side_panel import SidePanel


def wanted(setting: str, own: bool | None, width: int, accessible: bool) -> bool:
    """Whether it is to be open in a terminal of `width` columns. `own`: what the person's key said last."""
    from spark_chat.tui.widgets.side_panel import FITS_FROM, OPENS_FROM

    if width < FITS_FROM:
        return False
    if own is not None:
        return own
    return setting == "on" or (setting == "auto" and width >= OPENS_FROM and not accessible)


class Side:
    """Of one app."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._own: bool | None = None
        self._panel: SidePanel | None = None
        self._known: tuple[Readings, AnswerNumbers | None, Snapshot] | None = None

    @property
    def open(self) -> bool:
        return self._panel is not None

    def toggle(self) -> None:
        """The person's key: open it, or fold it away."""
        from spark_chat.tui.widgets.side_panel import FITS_FROM

        if self._app.size.width < FITS_FROM:
            self._app.say(f"The panel wants {FITS_FROM} columns; the line of meters has the same numbers.")
            return
        self._own = not self.open
        self.fit()

    def fit(self, width: int | None = None) -> None:
        """The terminal's size, the setting or the person's wish changed. `width`: columns, where they are new."""
        app = self._app
        columns = app.size.width if width is None else width
        open = wanted(app.choices.resolved.settings.ui.panel, self._own, columns, app.accessible)
        if open and self._panel is None:
            from spark_chat.tui.widgets.side_panel import SidePanel

            self._panel = SidePanel(plain=app.accessible)
            app.chat.query_one("#middle").mount(self._panel)
            if self._known is not None:
                self._panel.show(*self._known)
        elif not open and self._panel is not None:
            self._panel.remove()
            self._panel = None

    def show(self, readings: Readings, numbers: AnswerNumbers | None, snapshot: Snapshot) -> None:
        """What the meters show now."""
        self._known = (readings, numbers, snapshot)
        if self._panel is not None:
            self._panel.show(*self._known)
