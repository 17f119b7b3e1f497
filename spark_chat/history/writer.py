"""The journal's thread: entries in, transactions out. Nothing that it is asked waits for the disk.

Entries are served in order. What the disk refuses stays and is tried again, so every write must be right however
often it is repeated. The person is told once in a sentence, and told again when it works.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

    from spark_chat.history.store import HistoryProblem, Store

RETRY_S = 5.0
"""Seconds until a refused transaction is tried again by itself."""
LIMIT = 64 * 1024 * 1024
"""How many characters may wait for a disk that refuses; past it the journal gives up, and says so."""

Report = Callable[[str], None]


@dataclass(eq=False)
class Entry:
    """A `write` within a transaction, or a read (`ask`); `waiting` gets True or what was read, False or None where it
    failed. `parts` is what a write that is still open collects; `size` is its characters."""

    write: Callable[[sqlite3.Connection], None] | None = None
    ask: Callable[[Store], Any] | None = None
    waiting: Future[Any] | None = None
    parts: list[Any] = field(default_factory=list)
    size: int = 0

    def settle(self, result: Any) -> None:
        if self.waiting is not None and self.waiting.set_running_or_notify_cancel():
            self.waiting.set_result(result)
        self.waiting = None


class Writer:
    """One thread over one `Store`. Hold `lock` to look at `open`: entries by key that may still collect."""

    def __init__(self, path: Path, run: str, report: Report) -> None:
        self.lock = threading.Condition()
        self.open: dict[Hashable, Entry] = {}
        self.given_up = False
        self._path, self._run, self._tell = path, run, report
        self._entries: deque[Entry] = deque()
        self._due: float | None = None
        self._not_before = 0.0
        self._size = 0
        self._closing = False
        self._registered = False
        self.troubled = False
        self._thread: threading.Thread | None = None
        self._store: Store | None = None

    def put(self, entry: Entry, delay_s: float, key: Hashable | None = None) -> None:
        """Serve `entry` within `delay_s`; with a `key` it may collect more until then."""
        with self.lock:
            if self.given_up or self._closing:
                entry.settle(False if entry.ask is None else None)
                return
            if key is not None:
                self.open[key] = entry
            self._entries.append(entry)
            self._size += entry.size
            self._soon(delay_s)
            if self._thread is None:
                self._thread = threading.Thread(target=self._live, name="history", daemon=True)
                self._thread.start()

    def grown(self, entry: Entry, by: int) -> None:
        """An open entry collected `by` characters more. Hold `lock`."""
        entry.size += by
        self._size += by

    def close(self, deadline_s: float) -> bool:
        """Serve what is left and end; False where that took longer or failed."""
        with self.lock:
            self._closing = True
            self._soon(0.0)
            thread = self._thread
        if thread is None:
            return True
        thread.join(deadline_s)
        with self.lock:
            return not thread.is_alive() and not self._entries

    # ------------------------------------------------------------------ on the thread

    def touch(self, connection: sqlite3.Connection, conversation: str, settings: str = "{}") -> None:
        """The conversation is there, used now, by this run. Within a transaction."""
        from spark_chat.history import record

        now = time.time()
        record.run(connection, self._run, os.getpid(), _process_started(), now)
        record.conversation(connection, conversation, self._run, now, settings)
        self._registered = True

    def _soon(self, delay_s: float) -> None:
        due = time.monotonic() + delay_s
        if delay_s > 0:
            due = max(due, self._not_before)
        if self._due is None or due < self._due:
            self._due = due
            self.lock.notify_all()

    def _live(self) -> None:
        closing = False
        while not closing:
            with self.lock:
                while self._due is None or (left := self._due - time.monotonic()) > 0:
                    self.lock.wait(None if self._due is None else left)
                entries, self._entries = self._entries, deque()
                self.open.clear()
                self._due, closing = None, self._closing
            problem = self._served(entries)
            with self.lock:
                self._size -= sum(entry.size for entry in entries)
                if problem is not None:
                    self._put_back(entries, problem)
                    closing = closing or self.given_up
        if self._store is not None:
            self._say_goodbye(self._store)

    def _report(self, sentence: str) -> None:
        with suppress(Exception):
            self._tell(sentence)

    def _put_back(self, entries: deque[Entry], problem: HistoryProblem) -> None:
        for entry in entries:
            entry.settle(False if entry.ask is None else None)
        left = [entry for entry in entries if entry.write is not None]
        size = sum(entry.size for entry in left)
        if problem.lasting or size + self._size > LIMIT:
            self.given_up = True
            for entry in self._entries:
                entry.settle(False if entry.ask is None else None)
            self._entries.clear()
            if not problem.lasting:
                self._report(f"{problem} Too much waits for it by now: the rest of this chat is not kept.")
            return
        self._entries.extendleft(reversed(left))
        self._size += size
        self._not_before = time.monotonic() + RETRY_S
        if left:
            self._soon(RETRY_S)

    def _served(self, entries: deque[Entry]) -> HistoryProblem | None:
        """Serves from the left and takes out what is done; the problem that stopped it."""
        from spark_chat.history.store import Damaged

        problem = self._attempt(entries)
        if isinstance(problem, Damaged) and self._store is not None:
            self._store.close()
            self._store = None
            problem = self._attempt(entries)
        was_troubled, self.troubled = self.troubled, problem is not None
        if problem is None and was_troubled:
            self._report("The history is being kept again.")
        elif problem is not None and not was_troubled:
            self._report(str(problem))
        return problem

    def _attempt(self, entries: deque[Entry]) -> HistoryProblem | None:
        from spark_chat.history.store import HistoryProblem

        try:
            self._serve(entries)
        except HistoryProblem as problem:
            return problem
        except Exception as error:  # a defect ends the keeping of history with a sentence, never in silence
            return HistoryProblem(
                f"The history failed ({error!r}): this chat is not kept. This is a defect of spark-chat; "
                "`spark-chat doctor --report` writes down what helps to mend it.",
                lasting=True,
            )
        return None

    def _serve(self, entries: deque[Entry]) -> None:
        store = self._opened()
        while entries:
            writes = []
            for entry in entries:
                if entry.write is None:
                    break
                writes.append(entry)
            if writes:
                self._write(store, writes)
                for entry in writes:
                    entries.popleft()
                    with self.lock:
                        self._size -= entry.size
                    entry.settle(True)
            else:
                result = self._read(store, entries[0])
                entries.popleft().settle(result)

    def _read(self, store: Store, entry: Entry) -> Any:
        from spark_chat.history.store import HistoryProblem

        try:
            return entry.ask(store) if entry.ask is not None else None
        except HistoryProblem:
            raise
        except Exception as error:  # a conversation that cannot be read must not end the keeping of this one
            self._report(f"A part of the history could not be read ({error!r}).")
            return None

    def _write(self, store: Store, writes: list[Entry]) -> None:
        """All in one transaction; where one of them cannot be written at all, each in one of its own, without it."""
        import sqlite3

        try:
            with store.transaction() as connection:
                for entry in writes:
                    assert entry.write is not None
                    entry.write(connection)
        except (sqlite3.Error, ValueError, OverflowError) as error:
            if len(writes) > 1:
                for entry in writes:
                    self._write(store, [entry])
                return
            self._report(f"A part of this chat could not be kept in the history ({error}).")

    def _opened(self) -> Store:
        if self._store is None:
            from spark_chat.history.store import Store

            self._store = Store.open(self._path)
            for note in self._store.notes:
                self._report(note)
        return self._store

    def _say_goodbye(self, store: Store) -> None:
        from spark_chat.history import record
        from spark_chat.history.store import HistoryProblem

        if self._registered:
            with suppress(HistoryProblem), store.transaction() as connection:
                record.run_closed(connection, self._run, time.time())
        store.close()


def _process_started() -> float:
    import psutil

    return float(psutil.Process().create_time())
