"""How one setting reads in the settings screen: its three values in a line, and all that is known of it below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from spark_chat.chat.engine_room import said
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.optimizations.optimization import State
from spark_chat.optimizations.table import optimization
from spark_chat.settings.schema import Row
from spark_chat.tui import keymap
from spark_chat.tui.plain import one_line

NAME = 18
"""Cells of the name's column; the longest name has 14."""


@dataclass(frozen=True)
class SettingView:
    """One setting as it stands. `override`: the variable or flag over the file's value. `origin`: where the value in
    force came from."""

    row: Row
    running: Any
    saved: Any
    override: str = ""
    origin: str = "default"
    real: str | None = None
    """What the engine really runs, where that is known and may differ from what it was started with."""

    @property
    def runs(self) -> str:
        """What is at work, in words."""
        return said(self.running) if self.real is None else self.real

    @property
    def in_force_later(self) -> bool:
        """Whether what is saved waits for a restart."""
        return self.row.restart and not self.override and self.running != self.saved

    @property
    def mark(self) -> str:
        """`→` waits for a restart, `!` stands under a variable or flag, `•` is not the default."""
        if self.in_force_later:
            return "→"
        if self.override:
            return "!"
        return "•" if self.saved != self.row.default else " "


def really(key: str, snapshot: Snapshot) -> str | None:
    """What runs of the setting `key`, by the engine's own word; None where it is what was asked for."""
    section, _, name = key.partition(".")
    if section not in ("engine", "optimizations"):
        return None
    recipe, ready = snapshot.recipe, snapshot.ready
    if snapshot.phase is not Phase.READY or recipe is None or ready is None:
        return None if snapshot.phase in (Phase.IDLE, Phase.STARTING) else "not running"
    if section == "engine":
        facts: dict[str, str] = {"kind": recipe.engine, "model": recipe.model.name, "context": str(ready.context)}
        return facts.get(name)
    badge = next((item for item in snapshot.badges if item.name == name), None)
    if badge is None:
        return None
    if badge.state is State.ACTIVE:
        return "on" if badge.label == optimization(name).label else f"on, {badge.label}"
    return badge.word or str(badge.state.value).lower()


def hints_text(width: int) -> str:
    """The keys in at most `width` cells."""
    restart = keymap.key("restart")
    forms = (
        f"enter change   backspace default   {restart} restart engine   esc back",
        f"enter change  bksp default  {restart}  esc",
        f"enter  bksp  {restart}  esc",
    )
    return next((hints for hints in forms if len(hints) <= width), "")


def fitted(text: str, width: int) -> str:
    """`text` in exactly `width` cells, cut with an ellipsis where it is longer; one line."""
    line = one_line(text)
    if cell_len(line) > width:
        line = set_cell_size(line, max(0, width - 1)) + "…"
    return set_cell_size(line, width)


def columns(width: int) -> tuple[int, ...]:
    """Cells of the value columns: running, saved, default, as many as there is room for."""
    left = width - NAME - 2
    for count in (3, 2, 1):
        if left // count >= 11:
            return (min(28, left // count),) * count
    return (max(4, left),)


def head_text(width: int) -> str:
    """The names over the columns."""
    cells = columns(width)
    names = ("running", "saved", "default") if len(cells) > 1 else ("value",)
    return " " * (NAME + 2) + "".join(fitted(name, cells) for name, cells in zip(names, cells, strict=False))


def row_text(view: SettingView, width: int) -> Content:
    """Mark, name and values in `width` cells."""
    name = view.row.key.partition(".")[2]
    values: tuple[str, ...] = (view.runs, said(view.saved), said(view.row.default))
    cells = columns(width)
    if len(cells) == 1:
        values = (said(view.saved) if view.in_force_later else view.runs,)
    pieces: list[tuple[str, str]] = [(f"{view.mark} ", "bold"), (fitted(name, NAME), "")]
    for number, (found, size) in enumerate(zip(values, cells, strict=False)):
        # No colours: they would have to be read on the cursor's ground as well. The mark says what waits.
        styles = ("bold", "bold" if view.in_force_later else "", "")
        pieces.append((fitted(found, size - 1) + " ", styles[number]))
    return Content.assemble(*pieces)


def allowed_text(row: Row) -> str:
    """What the setting takes."""
    if row.kind == "bool":
        return "on or off"
    span = ""
    if row.minimum is not None and row.maximum is not None:
        span = f"{_plain(row.minimum)} to {_plain(row.maximum)}"
    choices = ", ".join(row.choices)
    optional = "may be left out" if row.optional else ""
    return "; ".join(part for part in (span, choices, optional) if part)


def _plain(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def detail_lines(view: SettingView) -> list[str]:
    """All that is known of a setting, a line each."""
    row = view.row
    lines = [row.doc]
    facts = [f"{row.key}", allowed_text(row)]
    if row.restart:
        facts.append("takes effect at the app's next start" if row.key.startswith("ui.") else "takes effect at restart")
    else:
        facts.append(
            "takes effect at once" if row.key.startswith(("ui.", "keys.")) else "takes effect with the next prompt"
        )
    lines.append(" · ".join(fact for fact in facts if fact))
    values = f"running {view.runs} · saved {said(view.saved)} · default {said(row.default)}"
    lines.append(values if not view.override else f"{values} · {view.override} stands over what is saved")
    return lines
