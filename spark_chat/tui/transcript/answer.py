"""An answer: what it thought (folded), its closed blocks, the open one, and the line with its numbers."""

from __future__ import annotations

import re
from collections import deque
from time import perf_counter
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment

from spark_chat.text.blocks import BlockSplitter
from spark_chat.text.clean import clean
from spark_chat.text.grammar import block_tokens
from spark_chat.text.palette import Palette
from spark_chat.text.piece import Figures, Piece, Plain, Prose, shown
from spark_chat.text.render import pieces_of
from spark_chat.text.row import Lead, Row
from spark_chat.text.table import TableRows
from spark_chat.tui.transcript.entry import Entry, Fold, Nothing
from spark_chat.tui.transcript.slot import Closed
from spark_chat.tui.transcript.tail import Tail

SLICE = 4_000
"""Characters taken in at a time; between two, the clock is looked at."""
_DEFINES = re.compile(r"^[ >]*\[[^\]\n]+\]:", re.MULTILINE)
_MARKS = {"stopped": ("■ stopped", "warning"), "failed": ("✗ failed", "error")}


class Answer(Entry):
    """`append` only stores; `digest` takes in what came, in slices."""

    role = "model"

    def __init__(self, id: str, label: str) -> None:
        super().__init__(id, label)
        self.state: str | None = None
        """None while it streams, then done, stopped or failed."""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._note = ""
        self._line = ""
        self._status = ""
        self._pending: deque[str] = deque()
        self._splitter: BlockSplitter | None = BlockSplitter()
        self._tail = Tail()
        self._thought = Tail("muted")
        self._thought_slots = 0
        self._thought_seen = 0
        self._thought_new = False
        self._recast = False
        self._tail_at = 0
        self._references: dict[str, Any] = {}

    @property
    def raw(self) -> str:
        if len(self._text) > 1:
            self._text = ["".join(self._text)]
        return self._text[0] if self._text else ""

    @property
    def reasoning(self) -> str:
        """What it thought, as it came."""
        return "".join(self._reasoning)

    def guess(self, width: int) -> int:
        return super().guess(width) + (0 if self.built else bool(self._reasoning) + bool(self._line))

    def append(self, text: str, reasoning: str, note: str) -> None:
        """Store what came. `note`: how long and how much it thought, for a person."""
        if reasoning or (text and not self._text) or (note and note != self._note):
            self._thought_new = True
        if text:
            self._text.append(text)
            self._pending.append(text)
        if reasoning:
            self._reasoning.append(reasoning)
        self._note = note or self._note

    def recast(self) -> None:
        """The text so far was a thought. Only noted, like `append`."""
        self._reasoning += self._text
        self._text.clear()
        self._pending.clear()
        self._recast = self._thought_new = True

    def finish(self, line: str, state: str, note: str) -> None:
        """Nothing more comes."""
        self.state, self._line, self._status = state, line, ""
        self._note = note or self._note
        self._thought_new = True

    def set_status(self, status: str) -> bool:
        """Show below what came what it does now; whether anything changed."""
        if status == self._status or self.state is not None:
            return False
        self._status = status
        if self.built:
            self._show_tail()
        return True

    @property
    def waits(self) -> bool:
        """There is something to take in."""
        return bool(self._pending) or self._thought_new or (self.state is not None and self._splitter is not None)

    def build(self) -> None:
        self._show_tail()

    def prepare(self, width: int, deadline: float) -> bool:
        super().prepare(width, deadline)
        return self.digest(deadline)

    def digest(self, deadline: float) -> bool:
        """Take in what came until `deadline`, in seconds of perf_counter; False where something is left."""
        if not self.built or not self.waits:
            return True
        if self._recast:
            self._begin_anew()
        if self._thought_new:
            self._thought_new = False
            self._show_thought()
        while self._pending and self._splitter is not None:
            self._feed(self._next_slice())
            if perf_counter() > deadline:
                return not self.waits
        if self.state is not None and self._splitter is not None:
            self._end()
        return True

    def _begin_anew(self) -> None:
        """Take away what stood as text; it is shown as a thought next."""
        self._recast = False
        self._splitter, self._tail = BlockSplitter(), Tail()
        self._thought = Tail("muted")
        self._thought_slots = self._thought_seen = self._tail_at = 0
        self._references = {}
        self._show_tail()

    def _next_slice(self) -> str:
        text = self._pending.popleft()
        while self._pending and len(text) + len(self._pending[0]) <= SLICE:
            text += self._pending.popleft()
        if len(text) > SLICE:  # cut all of it at once: to copy the rest at each slice makes megabytes slow
            self._pending.extendleft(text[at : at + SLICE] for at in reversed(range(SLICE, len(text), SLICE)))
            text = text[:SLICE]
        return clean(text)

    def _feed(self, text: str) -> None:
        splitter = self._splitter
        if splitter is None:
            return
        coded = splitter.kind == "fence"
        closed = splitter.feed(text)
        if closed or coded != (splitter.kind == "fence"):
            self._take(closed)
            self._tail.reset(splitter.tail, splitter.kind, int(splitter.gap), self.width, splitter.goes_on)
            self._show_tail()
        else:
            self._show_growth(self._tail.grow(text, self.width), self._tail_at, self._tail)

    def _take(self, closed: list[Any]) -> None:
        for block in closed:
            if "]:" in block.source and _DEFINES.search(block.source):
                block_tokens(block.source, self._references)
        self.put(self._tail_at, len(self.slots), [Closed(block) for block in closed])
        self._tail_at += len(closed)

    def _show_tail(self) -> None:
        pieces: list[Piece] = [*self._tail.pieces, *self._status_pieces()]
        if not pieces and not self.slots[: self._tail_at]:
            pieces = [Plain("…", role="faint")]
        self.put(self._tail_at, len(self.slots), pieces)

    def _status_pieces(self) -> list[Piece]:
        """What it does now, and which version it is."""
        status = [Plain(self._status, role="faint")] if self._status else []
        return [*status, *self._version_pieces()]

    def _show_growth(self, changed: int, start: int, tail: Tail) -> None:
        """The pieces of `tail`, which begin at slot `start`, have changed from number `changed` on."""
        at = start + changed
        slots = self.slots
        if at < len(slots) and changed < len(tail.pieces) and slots[at].piece is tail.pieces[changed]:
            self.grown(at)
            changed, at = changed + 1, at + 1
        if tail is self._tail:
            self.put(at, len(slots), [*tail.pieces[changed:], *self._status_pieces()])
        else:
            self.put(at, self._thought_slots, tail.pieces[changed:])
            self._move_tail(at + len(tail.pieces) - changed)

    def _move_tail(self, thought_slots: int) -> None:
        self._tail_at += thought_slots - self._thought_slots
        self._thought_slots = thought_slots

    def _show_thought(self) -> None:
        if not self._reasoning:
            return
        thinking = self.state is None and not self._text
        label = f"thinking {self._note}" if thinking else f"thought {self._note}"
        preview = "".join(self._reasoning[-40:])[-400:] if thinking and not self.opened else ""
        fold = ThoughtFold(f"{'▾' if self.opened else '▸'} {label.rstrip()}", clean(preview))
        first = self._thought_slots == 0
        if first and not self._tail_at and not self._tail.pieces and self.slots:
            self.put(0, len(self.slots), [])  # the dots that stood for waiting
        if first:
            self.put(0, 0, [fold])
            self._move_tail(1)
        else:
            self.slots[0].piece = fold
            self.grown(0)
        if not self.opened:
            if self._thought_slots > 1:
                self._thought.pieces = []
                self._thought_seen = 0
                self.put(1, self._thought_slots, [])
                self._move_tail(1)
        elif new := "".join(self._reasoning[self._thought_seen :]):
            self._thought_seen = len(self._reasoning)
            self._show_growth(self._thought.grow(clean(new), self.width), 1, self._thought)

    def _end(self) -> None:
        splitter, self._splitter = self._splitter, None
        if splitter is not None:
            self._take(splitter.finish())
        self._tail.pieces = []
        if self._references:  # a definition may stand below what refers to it
            for index, slot in enumerate(self.slots):
                if isinstance(slot.piece, Prose | TableRows) and slot.piece.refers():
                    self.grown(index)
        pieces: list[Piece] = []
        mark = _MARKS.get(self.state or "")
        line = clean(self._line)
        if self.versions:
            line = f"‹ {self.versions} › · {line}" if line else f"‹ {self.versions} ›"
        if mark is not None:
            start = ((mark[0] + (" · " if line else ""), mark[1]),)
            pieces.append(
                Figures(line or " ", role="muted", lead=Lead(start, tuple((" " * cell_len(t), r) for t, r in start)))
            )
        elif line:
            pieces.append(Figures(line, role="muted"))
        if not self.slots and not pieces:
            pieces.append(Plain("an empty answer", role="faint"))
        self.put(len(self.slots), len(self.slots), pieces)

    def open(self, index: int, piece: Closed) -> None:
        pieces = pieces_of(piece.block, self._references) or [Nothing()]
        self.put(index, index + 1, pieces)
        self._tail_at += len(pieces) - 1

    def toggle(self, slot: int | None = None) -> bool:
        """Open or close what it thought."""
        if not self._reasoning or (slot is not None and slot != 0):
            return False
        self.opened = not self.opened
        if self.built:
            self._show_thought()
        return True


class ThoughtFold(Fold):
    """One row: what folds, and while it thinks the end of the thought."""

    def __init__(self, label: str, preview: str) -> None:
        super().__init__(label)
        self._preview = " ".join(shown(preview).split())

    def estimate(self, width: int) -> int:
        return 1

    def rows(self, width: int, palette: Palette) -> list[Row]:
        label = shown(self.source)
        while cell_len(label) > width:
            label = label[:-1]
        segments = [Segment(label, palette.style("fold"))]
        used = cell_len(label)
        room = width - used - 4
        if self._preview and room >= 10:
            end = self._preview
            while cell_len(end) > room:
                end = end[max(1, (len(end) - room) // 2) :]
            segments.append(Segment(f"  …{end}", palette.style("faint")))
            used += 3 + cell_len(end)
        return [Row(segments, used)]
