"""A Markdown file that `markdown` wrote, read back as `history.importing` takes it: as far as the file goes.

Text between two comments may have been edited: it is taken as it stands now. What only JSON has (other versions,
drafts) is not in the file and so does not come back.
"""

from __future__ import annotations

import json
import re
from typing import Any

from spark_chat.chat.markdown import MARK
from spark_chat.history.importing import BadDocument
from spark_chat.moment import seconds

_PART = re.compile(r"^<!-- spark-chat (conversation|user|system|answer|reasoning|numbers) (\{.*\}) -->$", re.M)
_ESCAPED = re.compile(r"^\\(\\*)(?=<!-- spark-chat )", re.M)
_STATES = ("queued", "partial", "done", "stopped", "failed")


def is_ours(text: str) -> bool:
    """Whether the file may be one that `markdown` wrote."""
    return text.lstrip("\ufeff\n").startswith(f"{MARK}conversation ")


def parse(text: str) -> list[dict[str, Any]]:
    """The conversations in a file. Raises BadDocument."""
    text = text.replace("\r\n", "\n")
    if not is_ours(text):
        raise BadDocument("It is no Markdown that spark-chat wrote: the comment that begins such a file is missing.")
    marks = list(_PART.finditer(text))
    ends = [*(mark.start() - 1 for mark in marks[1:]), len(text)]
    items: list[dict[str, Any]] = []
    for mark, end in zip(marks, ends, strict=True):
        line = text.count("\n", 0, mark.start()) + 1
        try:
            facts = json.loads(mark[2])
        except (ValueError, RecursionError):
            raise BadDocument(f"The comment in line {line} is damaged.") from None
        _take(items, mark[1], facts, text[mark.end() + 1 : end], line)
    return items


def _take(items: list[dict[str, Any]], kind: str, facts: dict[str, Any], body: str, line: int) -> None:
    if kind == "conversation":
        id = _id(facts, line)
        row = {"id": id, "title": str(facts.get("title") or "") or None, "created": _time(facts, "created"),
               "updated": _time(facts, "updated"), "leaf": None}  # fmt: skip
        if isinstance(facts.get("settings"), dict):
            row["settings"] = facts["settings"]
        items.append({"conversation": row, "messages": [], "cleaned": True})
        return
    if not items:
        raise BadDocument(f"Line {line} belongs to no conversation.")
    messages = items[-1]["messages"]
    text = _inside(body)
    if kind in ("user", "system", "answer"):
        if fence := facts.get("closed"):
            text = text.removesuffix(f"\n{fence}")
        state = facts.get("state")
        message = {"id": _id(facts, line), "parent": _parent(facts), "role": "assistant" if kind == "answer" else kind,
                   "text": _ESCAPED.sub(r"\1", text), "state": state if state in _STATES else "done",
                   "created": _time(facts, "created")}  # fmt: skip
        if isinstance(facts.get("settings"), dict):
            message["settings"] = facts["settings"]
        messages.append(message)
        if kind == "answer" or message["state"] == "done":
            items[-1]["conversation"]["leaf"] = message["id"]
        return
    if not messages or messages[-1]["role"] != "assistant":
        raise BadDocument(f"Line {line} belongs to no answer.")
    if kind == "reasoning":
        lines = (row[2:] if row.startswith("> ") else row.removeprefix(">") for row in text.split("\n"))
        messages[-1]["reasoning"] = "\n".join(lines)
    else:
        messages[-1]["numbers"] = facts


def _inside(body: str) -> str:
    """What is below a part's heading, without the ends of line that the part was written with."""
    return body.partition("\n\n")[2].removesuffix("\n")


def _id(facts: dict[str, Any], line: int) -> str:
    id = facts.get("id")
    if not isinstance(id, str) or not id:
        raise BadDocument(f"The comment in line {line} has no id.")
    return id


def _parent(facts: dict[str, Any]) -> str | None:
    parent = facts.get("parent")
    return parent if isinstance(parent, str) else None


def _time(facts: dict[str, Any], name: str) -> float:
    return seconds(facts.get(name))
