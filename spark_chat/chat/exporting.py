"""Conversations into files, as Markdown or as JSON; nothing that is there is written over."""

from __future__ import annotations

import asyncio
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spark_chat.chat.markdown import markdown
from spark_chat.history import document, resume
from spark_chat.history.store import Store, loaded

if TYPE_CHECKING:
    from spark_chat.history.journal import Journal

LONGEST_NAME = 60
FORMS = ("md", "json")


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
    return _numbered(
        [*pieces(store, [conversation], form)], folder / f"{file_name(_title(store, conversation))}.{form}"
    )


def wish(argument: str) -> tuple[str, str]:
    """What the chat's command says: the form ("md" where it says none), and the path, "" for none."""
    word, _, rest = argument.partition(" ")
    if word in FORMS:
        return word, rest.strip()
    return ("json" if argument.endswith(".json") else "md"), argument


async def export(journal: Journal, conversation: str, argument: str, folder: Path) -> str:
    """Write the conversation as the chat's command wishes, into `folder` where it names no other place. A sentence on
    what came of it."""
    from spark_chat.locations import NoHome, at_home

    if not journal.keeps:
        return "Nothing is kept of this chat, so there is nothing to write a file from. /copy all copies what is here."
    form, named = wish(argument)

    def read(store: Store) -> tuple[str, list[str]]:
        return _title(store, conversation), list(pieces(store, [conversation], form))

    found = await journal.committed(journal.ask(read))
    if found is None:
        return "The conversation could not be read back, so no file was written."
    title, text = found
    if not any(text) or not title:
        return "There is nothing in this conversation yet."
    try:
        target = folder / at_home(named) if named else folder
        if not named or await asyncio.to_thread(target.is_dir):
            path = await asyncio.to_thread(_numbered, text, target / f"{file_name(title)}.{form}")
        else:
            path = target
            await asyncio.to_thread(to_file, text, path)
    except FileExistsError as error:
        return f"{error.filename} is there already, and is left as it is. Name another file: /export {form} PATH."
    except (OSError, ValueError, NoHome) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return f"The file could not be written: {reason}. Name another place: /export {form} PATH."
    return f"Written to {path}."


def _title(store: Store, conversation: str) -> str:
    rows = store.rows("SELECT title FROM conversations WHERE id = ?", conversation)
    return loaded(rows[0][0]) if rows else ""


def _numbered(text: list[str], path: Path) -> Path:
    """Write to `path`, or, where something is there, to the first of its name with a number. Raises OSError."""
    number, name = 1, path.stem
    while True:
        try:
            to_file(text, path)
            return path
        except FileExistsError:
            number += 1
            path = path.with_name(f"{name}-{number}{path.suffix}")


def file_name(title: str) -> str:
    """A title as a file's name, without an ending: letters, digits and dashes."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_NAME].rstrip("-")
    return name or "conversation"
