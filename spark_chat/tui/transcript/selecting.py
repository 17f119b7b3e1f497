"""The text of what is selected: a piece that is wholly in it gives its source, a part of one the text on its rows."""

from __future__ import annotations

from textual.selection import Selection

from spark_chat.text.clean import clean
from spark_chat.text.code import CodeHead
from spark_chat.text.row import Row
from spark_chat.tui.transcript.document import Document
from spark_chat.tui.transcript.drawing import entry_and_row
from spark_chat.tui.transcript.entry import Entry

_END = (1 << 62, 1 << 30)


def selected_text(document: Document, selection: Selection) -> str:
    """What `selection` holds, cleaned of control characters."""
    start = (0, 0) if selection.start is None else (selection.start.y, max(0, selection.start.x))
    end = _END if selection.end is None else (selection.end.y, max(0, selection.end.x))
    first, first_row = entry_and_row(start[0])
    last, last_row = entry_and_row(end[0])
    parts = []
    for at in range(first, min(last + 1, len(document.entries))):
        above = document.above(at)
        begin = (first_row - above, start[1]) if at == first else (-1, 0)
        finish = (last_row - above, end[1]) if at == last else _END
        parts.append(_of_entry(document, document.entries[at], begin, finish))
    return clean("\n\n".join(part for part in parts if part))


def _of_entry(document: Document, entry: Entry, start: tuple[int, int], end: tuple[int, int]) -> str:
    whole_start = start <= (0, 0)
    if whole_start and (end == _END or end[0] >= max(1, entry.height)):
        return entry.raw.strip("\n")
    if not entry.built:
        return ""
    text = ""
    top = 0
    opened = False
    for slot in entry.slots:
        gap, height = slot.piece.gap, slot.height
        content, bottom = top + gap, top + height
        if (bottom, 0) > start and (content, 0) <= end:
            before = "\n" * gap if text else ""
            whole = start <= (content, 0) and end >= (bottom, 0)
            if isinstance(slot.piece, CodeHead):
                opened = whole
            if whole:
                text += before + slot.piece.source + (getattr(slot.piece, "closing", "") if opened else "")
            else:
                rows = slot.rows(entry.width, document.palette)
                text += before + _of_rows(rows, content, start, end)
        top = bottom
    return text.strip("\n")


def _of_rows(rows: list[Row], top: int, start: tuple[int, int], end: tuple[int, int]) -> str:
    text = ""
    for number, row in enumerate(rows, top):
        if number < start[0] or number > end[0]:
            continue
        left = max(row.lead, start[1] if number == start[0] else 0)
        right = end[1] if number == end[0] else len(row.text)
        text += row.text[left : min(right, len(row.text) - row.fill)]
        if number < end[0]:
            text += row.join
    return text
