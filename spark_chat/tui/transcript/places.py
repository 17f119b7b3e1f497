"""Where one reads, in words that outlive a width and a start: a message, and how much of its text stands above."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_chat.tui.transcript.answer import Answer
from spark_chat.tui.transcript.document import Document, Place
from spark_chat.tui.transcript.entry import Entry, Fold, Prompt
from spark_chat.tui.transcript.slot import Closed


def kept(document: Document, row: int) -> dict[str, Any] | None:
    """The place of the document's row `row`; None where there is nothing."""
    place = document.place(row)
    if place is None:
        return None
    entry = document.entries[place.entry]
    kind = "answer" if isinstance(entry, Answer) else "prompt"
    slots = entry.slots[: place.slot or 0]
    return {"kind": kind, "id": entry.id, "above": sum(_size(slot.piece) for slot in slots), "rows": place.inside}


def found(document: Document, where: Mapping[str, Any]) -> Place | None:
    """The place that `kept` told; None where what was there is gone. Lays out just what is needed for it."""
    kind: type[Entry] = Answer if where.get("kind") == "answer" else Prompt
    entry_found = document.find(kind, str(where.get("id")))
    above, rows = where.get("above"), where.get("rows")
    if entry_found is None or not isinstance(above, int) or not isinstance(rows, int):
        return None
    at, entry = entry_found
    document.prepare(at)
    slot, before = 0, 0
    while slot < len(entry.slots) - 1:
        size = _size(entry.slots[slot].piece)
        if isinstance(entry.slots[slot].piece, Closed) and before + size > above:
            document.measure(at, slot)  # it is opened: what is looked for is inside
            continue
        if before >= above and size:
            break
        before, slot = before + size, slot + 1
    if not entry.slots or (above == 0 and rows == 0):
        return Place(at, int(at > 0), None, 0)
    document.measure(at, slot)
    return Place(at, 0, slot, max(0, min(rows, entry.heights[slot] - 1)))


def _size(piece: Any) -> int:
    return 0 if isinstance(piece, Fold) else len(piece.source)
