"""What stands beside the prompt: keys that help now, or what is written weighed against the context that is left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from textual.widgets import Static

from spark_chat.meters import units
from spark_chat.tui import keymap

FROM = 70
"""Columns from which an empty prompt shows keys, and a weight is said in full."""
WIDE = 110
"""Columns from which a long hint takes little from the lines beside it."""
BRIEF_FROM = 40
"""Columns from which what must not be missed is shown."""


@dataclass(frozen=True)
class Weight:
    """Tokens by the engine's own count: `text` of what is written, `prompt` of all that would be sent with it, of a
    context of `context`."""

    text: int
    prompt: int
    context: int

    @property
    def left(self) -> int:
        """Tokens that stay for the answer; negative where the prompt does not fit."""
        return self.context - self.prompt


@dataclass(frozen=True)
class Now:
    """`pasted`: a paste that ends with its line came last. `answering`: an answer runs. `slots`: a prompt with places
    to fill in stands there. `weight`: None while it is not known."""

    empty: bool = True
    pasted: bool = False
    answering: bool = False
    slots: bool = False
    weight: Weight | None = None
    counting: int = 0
    """Cells that are kept while it is counted anew, so that nothing beside it moves."""


def hint_text(now: Now, width: int) -> str:
    """The hint in a terminal of `width` columns; empty for none."""
    if width < BRIEF_FROM:
        return ""
    if now.pasted and not now.empty:
        return "pasted: enter sends" if width >= FROM else "enter sends"
    if now.slots and not now.empty:
        return "tab next place · enter sends" if width >= WIDE else "tab next place" if width >= FROM else "tab next"
    if now.weight is not None and not now.empty:
        return weight_text(now.weight, width)
    if now.counting and not now.empty:
        return "…".rjust(now.counting)
    if not now.empty or width < FROM:
        return ""
    if now.answering:
        return f"esc stop · {keymap.key('palette')} commands"
    return f"enter send · {keymap.key('palette')} commands"


def weight_text(weight: Weight, width: int) -> str:
    """Tokens of what is written and tokens that are left."""
    if weight.left < 0:
        return f"{-weight.left:,} tok too many"
    written = f"{weight.text:,} tok"
    return f"{written} · {units.count(weight.left)} left" if width >= FROM else written


class Hint(Static):
    """Shows `hint_text`."""

    DEFAULT_CSS = """
    Hint { width: auto; color: $text-muted; display: none; padding-left: 1; }
    Hint.-over { color: $text-warning; text-style: bold; }
    """

    def __init__(self) -> None:
        super().__init__(id="hint", markup=False)
        self.now = Now()
        self._shown: str | None = None

    def weigh(self, weight: Weight | None, soon: bool) -> None:
        """What is written weighs this; None: it is not known, or will be `soon`."""
        was_weight = self.now.weight is not None or self.now.counting
        kept = len(self._shown or "") if soon and was_weight else 0
        self.show(weight=weight, counting=0 if weight else kept)

    def show(self, **changed: Any) -> None:
        """Something of `Now` changed, or the width did."""
        self.now = replace(self.now, **changed)
        text = hint_text(self.now, self.app.size.width)
        if text == self._shown:
            return
        self._shown = text
        self.display = bool(text)
        self.set_class(self.now.weight is not None and self.now.weight.left < 0, "-over")
        self.update(text)
