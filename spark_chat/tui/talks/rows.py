"""What a row of the list of conversations says. Pure: text in, text out; titles and excerpts are never markup."""

from __future__ import annotations

import re
from datetime import datetime

from textual.content import Content

from spark_chat.history.message import Hit, Listed
from spark_chat.moment import local
from spark_chat.tui.plain import one_line

HERE, HELD, PINNED = "open", "in use", "pinned"
_LAST = re.compile(r" \([a-z0-9 ]{1,12}\)$")
WHEN = 12
"""Cells of the time."""


def when(updated: float, now: datetime) -> str:
    """A moment in few cells, as one says it at `now`: `today 14:03`, `30 Nov 14:03`, `30 Nov 2025`. Unix seconds."""
    moment = local(updated)
    if moment is None:
        return "-"
    if moment.date() == now.date():
        return f"today {moment:%H:%M}"
    return f"{moment:%d %b %H:%M}" if moment.year == now.year else f"{moment:%d %b %Y}"


def row(item: Listed, width: int, now: datetime, *, chosen: bool, here: bool) -> Content:
    """One line: mark, time, title, and what is special about it at the right."""
    words = [word for word, true in ((PINNED, item.pinned), (HERE, here), (HELD, item.held)) if true]
    end = "  ".join(words)
    lead = f"{'▸' if chosen else ' '} {'* ' if item.pinned else '  '}"
    time = f"{when(item.updated, now):<{WHEN}}  " if width >= 50 else ""
    room = max(4, width - len(lead) - len(time) - (len(end) + 2 if end else 0))
    title = _title(one_line(item.title) or "untitled", room)
    text = Content.assemble(lead, (time, "$text-muted"), title, (f"  {end}" if end else "", "$text-accent"))
    return text.stylize("bold") if chosen else text


def _title(title: str, room: int) -> Content:
    """Cut to `room` cells; what tells a fork from what it comes from stays."""
    end = _LAST.search(title)
    if end is None or Content(title).cell_length <= room or len(end[0]) * 2 > room:
        return Content(title).truncate(room, ellipsis=True, pad=True)
    return Content(title[: end.start()]).truncate(room - len(end[0]), ellipsis=True) + Content(end[0])


def hit_row(hit: Hit, width: int, now: datetime, *, chosen: bool, here: bool) -> Content:
    """Two lines: the conversation, and the words that were found in it."""
    head = row(hit.listed, width, now, chosen=chosen, here=here)
    if not hit.text:
        return Content("\n").join([head, Content.styled("      in its name", "$text-muted")])
    who = "you" if hit.role == "user" else "model"
    more = f"  +{hit.count - 1} more" if hit.count > 1 else ""
    parts: list[Content | tuple[str, str]] = [(f"      {who}: ", "$text-muted")]
    parts += [(text, "bold $text-warning") if found else (text, "") for text, found in _lines(hit)]
    line = Content.assemble(*parts).truncate(max(10, width - len(more)), ellipsis=True)
    return Content("\n").join([head, Content.assemble(line, (more, "$text-muted"))])


def _lines(hit: Hit) -> list[tuple[str, bool]]:
    """The excerpt without what could drive the terminal; blanks at the pieces' ends stay."""
    found = []
    for text, is_hit in hit.text:
        clean = one_line(text)
        start = " " if text[:1].isspace() else ""
        end = " " if text[-1:].isspace() and clean else ""
        found.append((start + clean + end, is_hit))
    return found
