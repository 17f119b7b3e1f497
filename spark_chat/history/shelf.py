"""What a chat asks and changes of all its conversations: through its journal, in order with what is being kept."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from spark_chat.history.message import as_json

if TYPE_CHECKING:
    from spark_chat.history.journal import Journal
    from spark_chat.history.message import Hit, Page
    from spark_chat.history.store import Store


class Shelf:
    """No call waits for the disk or raises; the futures hold what the journal's do."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def page(self, first: int, count: int) -> Future[Page | None]:
        """`count` conversations of the list from number `first` on."""

        def ask(store: Store) -> Page:
            from spark_chat.history import listing

            return listing.page(store, self._journal.run, first, count)

        return self._journal.ask(ask)

    def search(self, text: str, limit: int = 100) -> Future[list[Hit] | None]:
        """The conversations with all words of `text`, `limit` at most."""

        def ask(store: Store) -> list[Hit]:
            from spark_chat.history import search

            return search.search(store, self._journal.run, text, limit)

        return self._journal.ask(ask)

    def rename(self, conversation: str, title: str) -> Future[bool]:
        """Another title; a blank one brings the first prompt's back."""
        return self._change("rename", conversation, title)

    def pin(self, conversation: str, pinned: bool) -> Future[bool]:
        """Keep it on top of the list, or no longer."""
        return self._change("pin", conversation, pinned)

    def delete(self, conversation: str) -> Future[bool]:
        """Out of the list; it stays in the file, marked, for `listing.KEPT_S` seconds."""
        return self._change("delete", conversation, time.time())

    def bring_back(self, conversation: str) -> Future[bool]:
        """Undo `delete`."""
        return self._change("delete", conversation, None)

    def purge(self) -> Future[bool]:
        """Take out what was deleted long ago."""
        return self._change("purge", time.time())

    def left_at(self, conversation: str, place: Mapping[str, Any] | None) -> Future[bool]:
        """Where the person had scrolled to; None for the end."""
        return self._change("place", conversation, json.dumps(place) if place else "")

    def settings(self, conversation: str, values: Mapping[str, Any]) -> Future[bool]:
        """The conversation's own settings. Of one that nothing was said in yet they are written with its first word."""
        self._journal.set_up(conversation, values)
        return self._change("settings", conversation, as_json(values))

    def show(self, conversation: str, leaf: str, chosen: str) -> Future[bool]:
        """The person stepped to the version `chosen`; the last message on screen is `leaf` now."""
        return self._change("show", conversation, leaf, chosen, time.time())

    def fork(self, conversation: str, new: str, title: str, ids: list[tuple[str, str]]) -> Future[bool]:
        """A copy of the messages of `ids` (old, new) as the conversation `new`, this chat's own."""

        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import listing

            listing.fork(connection, conversation, new, title, ids)

        return self._journal.write(new, write)

    def _change(self, deed: str, *values: Any) -> Future[bool]:
        def write(connection: sqlite3.Connection) -> None:
            from spark_chat.history import listing

            getattr(listing, deed)(connection, *values)

        return self._journal.change(write)
