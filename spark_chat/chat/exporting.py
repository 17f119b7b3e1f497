"""Conversations into files, as Markdown or as JSON; nothing that is there is written over."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from spark_chat.chat.markdown import markdown
from spark_chat.history import document, resume
from spark_chat.history.store import Store

LONGEST_NAME = 60


def pieces(store: Store, conversations: list[str], form: str) -> Iterator[str]:
    """The text of one file with these conversations. `form`: "md" or "json". Raises HistoryProblem."""
    if form == "json":
        yield from document.whole(store, conversations)
        return
    separator = ""
    for id in conversations:
        found = resume.load(store, id)
        if found is not None:
            yield separator + markdown(found)
            separator = "\n"


def to_file(text: Iterable[str], path: Path) -> None:
    """Write `path`, for this user alone. Raises OSError; FileExistsError where something is there already. One that
    could not be finished is taken away again."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor has no path
            for piece in text:
                file.write(piece.encode("utf-8", "replace"))
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def to_folder(store: Store, conversation: str, form: str, folder: Path) -> Path:
    """Write one conversation into `folder`, named after its title; a number tells it from others of that title. Where
    it is. Raises OSError, HistoryProblem."""
    rows = store.rows("SELECT title FROM conversations WHERE id = ?", conversation)
    name = file_name(str(rows[0][0] or "")) if rows else "conversation"
    number = 1
    while True:
        path = folder / f"{name}{'' if number == 1 else f'-{number}'}.{form}"
        try:
            to_file(pieces(store, [conversation], form), path)
            return path
        except FileExistsError:
            number += 1


def file_name(title: str) -> str:
    """A title as a file's name, without an ending: letters, digits and dashes."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_NAME].rstrip("-")
    return name or "conversation"
