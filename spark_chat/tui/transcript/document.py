"""All entries on top of each other: which rows are where, exact near the screen and estimated elsewhere."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from spark_chat.text.code import CodeLines, Colours
from spark_chat.text.palette import Palette
from spark_chat.text.row import Row
from spark_chat.tui.transcript.entry import Entry
from spark_chat.tui.transcript.heights import Heights
from spark_chat.tui.transcript.slot import Slot

Kind = TypeVar("Kind", bound=Entry)
KEPT = 3_000
"""Rows that are kept laid out."""


@dataclass(frozen=True, slots=True)
class Place:
    """A row: of which entry, which row in it, of which slot (None: the blank line or the label above), which row in
    that, its gap included."""

    entry: int
    row: int
    slot: int | None
    inside: int


class Document:
    """`width` is that of the text, without the gutter. `labelled`: labels stand on lines of their own."""

    def __init__(self, palette: Palette) -> None:
        self.entries: list[Entry] = []
        self.palette = palette
        self.width = 80
        self.labelled = False
        self.chosen: Entry | None = None
        """The entry that the person chose; `mark` stands beside its rows."""
        self.mark = "▌"
        self._heights = Heights()
        self._index: dict[tuple[type[Entry], str], int] = {}
        self._warm: OrderedDict[Slot, int] = OrderedDict()
        self._warm_rows = 0

    @property
    def height(self) -> int:
        """Rows of all."""
        return self._heights.total

    def above(self, entry: int) -> int:
        """Rows between an entry's top and its first slot."""
        return (entry > 0) + self.labelled

    def top(self, entry: int) -> int:
        """The row where an entry begins, its blank line included."""
        return self._heights.top(entry)

    def add(self, entry: Entry, *, lazy: bool = False, at: int | None = None) -> None:
        """One more, at the end or as number `at`; where `lazy`, its slots are made when it comes near the screen."""
        at = len(self.entries) if at is None else at
        self.entries.insert(at, entry)
        for number, moved in enumerate(self.entries[at:], at):
            self._index[type(moved), moved.id] = number
        if not lazy:
            entry.prepare(self.width, 0)
        height = entry.guess(self.width) if lazy else entry.height
        self._heights.replace(at, at, [height + self.above(at)])

    def cut(self, at: int) -> None:
        """Take away the entries from number `at` on."""
        for entry in self.entries[at:]:
            self._index.pop((type(entry), entry.id), None)
            if entry is self.chosen:
                self.chosen = None
            for slot in entry.slots:
                self._warm_rows -= self._warm.pop(slot, 0)
        self._heights.replace(at, len(self.entries), [])
        del self.entries[at:]

    def find(self, kind: type[Kind], id: str) -> tuple[int, Kind] | None:
        """The entry of that kind called `id` and its number. A prompt and its answer may share an id."""
        at = self._index.get((kind, id))
        entry = None if at is None else self.entries[at]
        return (at, entry) if at is not None and isinstance(entry, kind) else None

    def changed(self, at: int) -> None:
        """An entry's height may have changed."""
        self._heights[at] = self.entries[at].height + self.above(at)

    def resize(self, width: int, labelled: bool) -> None:
        """Another width: all heights are estimates again, made from what they were."""
        self.width, self.labelled = width, labelled
        self._heights = Heights([entry.guess(width) + self.above(at) for at, entry in enumerate(self.entries)])

    def place(self, row: int) -> Place | None:
        """What stands at `row`; None in an empty document. The entry must be prepared for slots to be right."""
        if not self.entries:
            return None
        at = self._heights.at(row)
        local = max(0, row - self._heights.top(at))
        entry, above = self.entries[at], self.above(at)
        if local < above or not entry.slots:
            return Place(at, local, None, 0)
        slot = entry.heights.at(local - above)
        return Place(at, local, slot, local - above - entry.heights.top(slot))

    def row_of(self, place: Place) -> int:
        """The row of a place, now that heights may have changed."""
        top = self._heights.top(place.entry)
        if place.slot is None:
            return top + place.row
        entry = self.entries[place.entry]
        slot = min(place.slot, len(entry.slots) - 1)
        if slot < 0:
            return top
        inside = min(place.inside, max(0, entry.heights[slot] - 1))
        return top + self.above(place.entry) + entry.heights.top(slot) + inside

    def settle(self, top: int, rows: int, margin: int, deadline: float) -> tuple[int, bool]:
        """Make exact what `rows` rows from `top` on show, and `margin` rows around where time permits.

        Returns where the row that was at `top` is now, and whether nothing is left to do. `deadline` in seconds of
        perf_counter.
        """
        place = self._exact_place(top, deadline)
        if place is None:
            return 0, True
        done = self._down(place, rows, margin, deadline)
        above, place = self._up(place, margin, deadline)
        return self.row_of(place), done and above

    def settle_end(self, rows: int, margin: int, deadline: float) -> bool:
        """Make exact what the last `rows` rows show."""
        if not self.entries:
            return True
        at = len(self.entries) - 1
        done = self._prepare(at, deadline)
        place = Place(at, 0, len(self.entries[at].slots), 0)
        return self._up(place, margin, deadline, must=rows)[0] and done

    def prepare(self, at: int) -> None:
        """Make an entry's slots, all that it has."""
        while not self._prepare(at, perf_counter() + 1.0):
            pass

    def measure(self, at: int, slot: int) -> None:
        """Make a slot's height exact; a closed block is opened, so more slots may stand there."""
        self._measure(at, slot)

    def _prepare(self, at: int, deadline: float) -> bool:
        done = self.entries[at].prepare(self.width, deadline)
        self.changed(at)
        return done

    def _measure(self, at: int, slot: int) -> bool:
        """Make a slot's height exact; whether there was anything to do."""
        entry = self.entries[at]
        if slot >= len(entry.slots) or entry.slots[slot].exact == entry.width:
            return False
        entry.measure(slot, self.palette)
        if slot < len(entry.slots):
            self._keep(entry.slots[slot])
        self.changed(at)
        return True

    def _exact_place(self, row: int, deadline: float) -> Place | None:
        place = self.place(row)
        if place is None:
            return None
        entry = self.entries[place.entry]
        if not entry.built or entry.width != self.width or getattr(entry, "waits", False):
            old = max(1, self._heights[place.entry])
            self._prepare(place.entry, deadline)
            if place.slot is None and place.row >= self.above(place.entry):
                local = place.row * self._heights[place.entry] // old
                place = self.place(self._heights.top(place.entry) + local) or place
        if place.slot is not None:
            before = max(1, entry.heights[place.slot]) if place.slot < len(entry.heights) else 1
            self._measure(place.entry, place.slot)
            if place.slot < len(entry.heights) and entry.heights[place.slot] < before:
                inside = min(place.inside, max(0, entry.heights[place.slot] - 1))
                place = Place(place.entry, place.row, place.slot, inside)
        return place

    def _down(self, place: Place, rows: int, margin: int, deadline: float) -> bool:
        """Measure from `place` downwards. At least one slot each time, so that it ends however short the time is."""
        at, slot = place.entry, place.slot or 0
        covered = -place.inside if place.slot is not None else -place.row
        done, worked = True, False
        if place.slot is not None:
            covered -= self.above(at)
        while at < len(self.entries) and covered < rows + margin:
            done = self._prepare(at, deadline) and done
            entry = self.entries[at]
            covered += self.above(at)
            while slot < len(entry.slots) and covered < rows + margin:
                if covered >= rows and worked and perf_counter() > deadline:
                    return False
                worked = self._measure(at, slot) or worked
                covered += entry.heights[slot] if slot < len(entry.slots) else 0
                slot += 1
            if not done and covered >= rows:
                return False
            at, slot = at + 1, 0
        return done

    def _up(self, place: Place, margin: int, deadline: float, must: int = 0) -> tuple[bool, Place]:
        """Measure from above `place` upwards, `must` rows in any case; where `place`'s slot has another number since,
        say so."""
        at, slot = place.entry, place.slot or 0
        covered, done, worked = 0, True, False
        while covered < must + margin:
            entry = self.entries[at]
            while slot > 0 and covered < must + margin:
                if covered >= must and worked and perf_counter() > deadline:
                    return False, place
                count = len(entry.slots)
                worked = self._measure(at, slot - 1) or worked
                more = len(entry.slots) - count  # a closed block was opened: its last piece is nearest
                if more and at == place.entry and place.slot is not None:
                    place = Place(place.entry, place.row, place.slot + more, place.inside)
                slot += more
                self._measure(at, slot - 1)
                slot -= 1
                covered += entry.heights[slot]
            if at == 0 or (not done and covered >= must):
                break
            covered += self.above(at)
            at -= 1
            done = self._prepare(at, deadline) and done
            slot = len(self.entries[at].slots)
        return done, place

    def _keep(self, slot: Slot) -> None:
        """Keep the rows of `slot`, and those of others as long as there is room."""
        self._warm_rows += slot.height - self._warm.get(slot, 0)
        self._warm[slot] = slot.height
        self._warm.move_to_end(slot)
        while self._warm_rows > KEPT and len(self._warm) > 1:
            old, rows = self._warm.popitem(last=False)
            self._warm_rows -= rows
            old.drop()

    def row(self, place: Place) -> Row | None:
        """What to draw at a place; None for a blank line. Measures what was not, as a last resort."""
        if place.slot is None:
            return None
        entry = self.entries[place.entry]
        if place.slot >= len(entry.slots):
            return None
        slot = entry.slots[place.slot]
        inside = place.inside - slot.piece.gap
        if inside < 0 or not slot.exact:
            return None
        rows = slot.rows(entry.width, self.palette)
        self._keep(slot)
        return rows[inside] if inside < len(rows) else None

    def colours(self, top: int, rows: int) -> list[Colours]:
        """The code on these rows whose colours are not all known."""
        found: list[Colours] = []
        for row in range(top, top + rows):
            place = self.place(row)
            if place is not None and place.slot is not None:
                piece = self.entries[place.entry].slots[place.slot].piece
                if isinstance(piece, CodeLines) and not piece.colours.done and piece.colours not in found:
                    found.append(piece.colours)
        return found
