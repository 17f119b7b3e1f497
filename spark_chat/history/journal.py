"""Keeps everything typed and received, so that a kill loses at most the last second.

A prompt, the begin and the end of an answer are written at once; the text of an answer and the unsent draft in one
transaction a second. sqlite runs on a thread of its own (`writer.py`), started at the first call: no call waits for
the disk, and none raises into the chat.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spark_chat.history.message import as_json
from spark_chat.history.writer import Entry, Writer

if TYPE_CHECKING:
    import sqlite3

    from spark_chat.history.message import Conversation, Offer, State
    from spark_chat.history.store import Store

INTERVAL_S = 0.8
"""Seconds from the first text that came to its transaction: under one, so that the writing itself fits in."""
ANSWER_S = 2.0
"""The longest that a chat waits for the disk before it goes on without, in seconds."""

T = TypeVar("T")


def new_id() -> str:
    """An id for a conversation or a message, unique everywhere."""
    return uuid.uuid4().hex


class Journal:
    """One chat's own. `path` None keeps nothing, with the same calls.

    `report` gets sentences for a person, never on the caller's event loop (`close` alone tells on the caller's thread).
    The futures that calls return hold True where it is on disk and False where it is not (None for what was asked),
    never an exception; `committed` awaits one, with a deadline. Message ids must be unique in their conversation over
    all runs: take them from `new_id`.
    """

    def __init__(self, path: Path | None, report: Callable[[str], None] = lambda sentence: None) -> None:
        self._report = report
        self._run = new_id()
        self._writer = None if path is None else Writer(path, self._run, report)
        self._answers: dict[str, str] = {}
        self._pieces: dict[str, int] = {}
        self._settings: dict[str, str] = {}
        self._bases: dict[str, tuple[int, int]] = {}

    @property
    def run(self) -> str:
        """This chat's name among those that write to the file."""
        return self._run

    @property
    def keeps(self) -> bool:
        """Whether anything is kept, as far as is known now."""
        return self._writer is not None and not self._writer.given_up

    @property
    def troubled(self) -> bool:
        """Whether what is said now gets to no disk, or none is known for it."""
        return not self.keeps or (self._writer is not None and self._writer.troubled)

    # ------------------------------------------------------------------ what a chat says

    def begin(self, settings: Mapping[str, Any] | None = None) -> str:
        """A new conversation's id. Nothing is written before something is said in it."""
        id = new_id()
        self._settings[id] = as_json(settings)
        return id

    def set_up(self, conversation: str, settings: Mapping[str, Any]) -> None:
        """The settings that a conversation gets with the first thing that is written in it."""
        self._settings[conversation] = as_json(settings)

    def prompt(
        self, conversation: str, id: str, text: str, parent: str | None = None, edits: str | None = None
    ) -> Future[bool]:
        """A prompt was submitted: "queued" until its answer starts. Wait for the future before it is sent.

        `parent`, `edits`: see `record.prompt`."""
        now = time.time()

        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import record

            record.prompt(connection, conversation, id, text, parent, now, edits)

        return self.write(conversation, write, len(text))

    def answer_started(
        self, conversation: str, id: str, parent: str | None = None, after: str | None = None, leaf: bool = True
    ) -> Future[bool]:
        """The answer `id` to the prompt `parent` begins; `append` and `finish` need just its id from now on.
        `after`, `leaf`: see `record.answer`."""
        now = time.time()
        self._answers[id] = conversation

        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import record

            record.answer(connection, conversation, id, parent, now, after, leaf)

        return self.write(conversation, write)

    def goes_on(self, conversation: str, id: str, base: tuple[int, int]) -> Future[bool]:
        """The answer `id`, which had ended, goes on behind its first `base` characters of text and of reasoning."""
        self._answers[id], self._bases[id] = conversation, base

        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import record

            record.go_on(connection, conversation, id, base)

        return self.write(conversation, write)

    def append(self, id: str, text: str = "", reasoning: str = "") -> None:
        """Text of the answer `id` came."""
        writer, conversation = self._writer, self._answers.get(id)
        if writer is None or conversation is None or not (text or reasoning):
            return
        with writer.lock:
            entry = writer.open.get(("piece", id))
            if entry is None:
                entry = self._piece(writer, conversation, id)
                writer.put(entry, INTERVAL_S, ("piece", id))
            entry.parts.append((text, reasoning))
            writer.grown(entry, len(text) + len(reasoning))

    def recast(self, id: str) -> None:
        """All text of the answer `id` so far was reasoning."""
        conversation, last = self._answers.get(id), self._pieces.get(id, -1)
        if conversation is None:
            return

        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import record

            record.recast(connection, conversation, id, last)

        self.write(conversation, write)

    def finish(
        self, id: str, state: State, numbers: object = None, settings: object = None, conversation: str | None = None
    ) -> Future[bool]:
        """The message `id` ended as `state`. `numbers` and `settings`: a dataclass or a mapping, kept as JSON.

        `conversation` is needed only for a message that is no answer begun here, such as a prompt taken back."""
        home = self._answers.pop(id, None) or conversation
        self._pieces.pop(id, None)
        base = self._bases.pop(id, (0, 0))
        if home is None:
            return _settled(False)
        figures, used = as_json(numbers), as_json(settings)

        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import record

            record.finish(connection, home, id, state, figures, used, base)

        return self.write(home, write)

    def draft(self, conversation: str, text: str, moved_from: str = "") -> None:
        """What stands in the composer now; "" when nothing does. `moved_from`: the conversation that it was found in,
        which keeps it no longer and does not become this chat's."""
        writer = self._writer
        if writer is None:
            return
        with writer.lock:
            entry = None if moved_from else writer.open.get(("draft", conversation))
            if entry is None:
                entry = self._draft(writer, conversation, moved_from)
                writer.put(entry, INTERVAL_S, ("draft", conversation))
            entry.parts[:] = [text]
            writer.grown(entry, len(text) - entry.size)

    # ------------------------------------------------------------------ what a start asks

    def latest(self) -> Future[Offer | None]:
        """What this start can go on with."""

        def ask(store: Store) -> Offer | None:
            from spark_chat.history import resume

            return resume.latest(store)

        return self.ask(ask)

    def load(self, conversation: str) -> Future[Conversation | None]:
        """A conversation, read back, in order."""

        def ask(store: Store) -> Conversation | None:
            from spark_chat.history import resume

            return resume.load(store, conversation)

        return self.ask(ask)

    def resume(self, conversation: str) -> Future[Conversation | None]:
        """Like `load`, and goes on with it: it is this run's now, and an answer that a kill cut off is "stopped"."""
        writer = self._writer

        def ask(store: Store) -> Conversation | None:
            from spark_chat.history import record, resume

            with store.transaction() as connection:
                if writer is not None and record.exists(connection, conversation):
                    writer.touch(connection, conversation)
                    record.stop_partial(connection, conversation)
            return resume.load(store, conversation)

        return self.ask(ask)

    def prompts(self, limit: int = 200) -> Future[list[str] | None]:
        """The last prompts of all conversations, oldest first."""

        def ask(store: Store) -> list[str]:
            from spark_chat.history import resume

            return resume.prompts(store, limit)

        return self.ask(ask)

    async def committed(self, future: Future[T]) -> T | None:
        """The future's result; None where the disk takes longer than ANSWER_S, which is reported."""
        done, _ = await asyncio.wait([asyncio.wrap_future(future)], timeout=ANSWER_S)
        if done:
            return future.result()
        await asyncio.to_thread(
            self._report,
            "The disk is slow to keep the history. The chat goes on, and it is written as soon as it can be.",
        )
        return None

    def close(self, deadline_s: float = 2.0) -> bool:
        """Writes what is left, for `deadline_s` at most. False, and a sentence, where something could not be."""
        if self._writer is None or self._writer.close(deadline_s):
            return True
        self._report("The end of this chat could not be kept in the history: the disk did not take it in time.")
        return False

    # ------------------------------------------------------------------ parts

    def write(self, conversation: str, write: Callable[[sqlite3.Connection], None], size: int = 0) -> Future[bool]:
        """Write something of a conversation that is in use: it is this chat's now, and first in the list."""
        writer, future = self._writer, Future[bool]()
        if writer is None:
            return _settled(False)
        settings = self._settings.get(conversation, "{}")

        def written(connection: sqlite3.Connection) -> None:
            writer.touch(connection, conversation, settings)
            write(connection)

        with writer.lock:
            writer.open.clear()
            writer.put(Entry(write=written, waiting=future, size=size), 0.0)
        return future

    def change(self, write: Callable[[sqlite3.Connection], None]) -> Future[bool]:
        """Write something that is no use of a conversation: the order of the list stays."""
        writer, future = self._writer, Future[bool]()
        if writer is None:
            return _settled(False)
        with writer.lock:
            writer.open.clear()
            writer.put(Entry(write=write, waiting=future), 0.0)
        return future

    def ask(self, ask: Callable[[Store], T | None]) -> Future[T | None]:
        """What a read gives; None where it could not be read."""
        future = Future[T | None]()
        if self._writer is None:
            future.set_result(None)
        else:
            self._writer.put(Entry(ask=ask, waiting=future), 0.0)
        return future

    def _piece(self, writer: Writer, conversation: str, id: str) -> Entry:
        n = self._pieces[id] = self._pieces.get(id, -1) + 1
        now, entry = time.time(), Entry()

        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import record

            writer.touch(connection, conversation)
            text = "".join(text for text, _ in entry.parts)
            record.piece(connection, conversation, id, n, text, "".join(reasoning for _, reasoning in entry.parts), now)

        entry.write = write
        return entry

    def _draft(self, writer: Writer, conversation: str, moved_from: str) -> Entry:
        now, entry, settings = time.time(), Entry(), self._settings.get(conversation, "{}")

        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import record

            def touch() -> None:
                writer.touch(connection, conversation, settings)

            record.draft_of(connection, conversation, touch, entry.parts[0], now, moved_from)

        entry.write = write
        return entry


def _settled(result: bool) -> Future[bool]:
    future = Future[bool]()
    future.set_result(result)
    return future
