"""Search in all that was ever said, through sqlite's FTS5. For the journal's thread.

What is searched is data: it never becomes syntax of the query. Every word must be there, in any order and whatever
the case and the accents; a word also finds longer ones that begin with it; words in "quotes" must follow each other.
Chinese, Japanese and Korean are found wherever they stand, since no space tells where a word begins (`unspaced`).
Newest first: to weigh all hits of a word that stands in every message would take seconds.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from spark_chat.history import unspaced
from spark_chat.history.listing import COLUMNS, IN_LIST, JOINED, Holders
from spark_chat.history.message import Hit
from spark_chat.history.store import Store, loaded

LOOKED_AT = 2_000
"""Messages taken from the index at a time."""
ROUNDS = 4
"""How often, where one conversation fills them all."""
AROUND = 60
"""Characters shown on either side of the first hit."""
LONGEST = 200_000
"""Characters of a message in which the place of the hit is looked for."""


@dataclass(frozen=True)
class Query:
    """`words`: what to find, each as it was written; `exact`: whether it may not go on as a longer word."""

    words: tuple[tuple[str, bool], ...]

    @property
    def match(self) -> str:
        """The query in FTS5's own language."""
        found = []
        for word, exact in self.words:
            for piece in unspaced.split(word):
                if unspaced.is_run(piece):
                    found.append(unspaced.match(piece))
                elif _says_something(piece):
                    found.append(f'"{piece}"' + ("" if exact else "*"))
        return " AND ".join(found)

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """Finds the words in a text that is folded."""
        parts = []
        for word, exact in self.words:
            for piece in unspaced.split(word):
                if unspaced.is_run(piece):
                    parts.append(re.escape(piece))
                    continue
                inner = r"[\W_]+".join(re.escape(folded(part)) for part in re.findall(r"[^\W_]+", piece))
                if inner:
                    after = f"(?!{unspaced.WORDLIKE})" if exact else f"{unspaced.WORDLIKE}*"
                    parts.append(f"(?<!{unspaced.WORDLIKE}){inner}{after}")
        return re.compile("|".join(parts)) if parts else None


def query(text: str) -> Query:
    """What a person wrote into the search. No words where there is neither a letter nor a digit in it."""
    words = []
    for quoted, plain in re.findall(r'"([^"]*)"?|([^\s"]+)', text.replace("\0", " ")):
        word = (quoted or plain).encode("utf-8", "replace").decode()
        if _says_something(word):
            words.append((word, bool(quoted)))
    return Query(tuple(words))


def _says_something(word: str) -> bool:
    return any(unicodedata.category(letter)[0] in "LN" for letter in word)


def folded(text: str) -> str:
    """Of the same length in characters: small letters without accents, as the index sees them."""
    return "".join(map(_folded, text))


def _folded(letter: str) -> str:
    if letter < "\x80":
        return letter.lower()
    if unspaced.is_run(letter):
        return letter
    plain = unicodedata.normalize("NFD", letter)[0].lower()
    return plain if len(plain) == 1 else letter


def search(store: Store, run: str, text: str, limit: int) -> list[Hit]:
    """The conversations with what `text` says, in a message or the title, `limit` at most: those with the newest hit
    first. Raises HistoryProblem. `run`: who asks."""
    wanted = query(text)
    if not wanted.words:
        return []
    pattern = wanted.pattern
    newest, counts = _messages(store, wanted, limit)
    by_title = _titles(store, wanted, pattern, limit)
    holders = Holders(run)
    ids = [*newest, *(id for id in by_title if id not in newest)][:limit]
    hits = []
    for id in ids:
        row = store.rows(f"SELECT {COLUMNS} FROM {JOINED} WHERE c.id = ?", id)[0]
        message, role, pieces = _shown(store, newest[id], pattern) if id in newest else ("", "", ())
        hits.append(Hit(holders.listed(row), message, role, pieces, counts.get(id, 0)))
    return hits


def _messages(store: Store, wanted: Query, limit: int) -> tuple[dict[str, int], dict[str, int]]:
    """By conversation: the number of its newest message with a hit, and how many messages have one."""
    newest: dict[str, int] = {}
    counts: dict[str, int] = {}
    below = 1 << 62
    for _ in range(ROUNDS):
        rows = store.rows(
            "SELECT words.rowid, m.conversation FROM words CROSS JOIN messages m ON m.seq = words.rowid "
            "CROSS JOIN conversations c ON c.id = m.conversation "
            f"WHERE words MATCH ? AND words.rowid < ? AND {IN_LIST} ORDER BY words.rowid DESC LIMIT ?",
            wanted.match, below, LOOKED_AT,
        )  # fmt: skip
        for seq, conversation in rows:
            if conversation in newest or len(newest) < limit:
                newest.setdefault(conversation, seq)
                counts[conversation] = counts.get(conversation, 0) + 1
        if len(rows) < LOOKED_AT or len(newest) >= limit:
            break
        below = rows[-1][0]
    return newest, counts


def _titles(store: Store, wanted: Query, pattern: re.Pattern[str] | None, limit: int) -> list[str]:
    """Conversations whose title has all the words, used last first."""
    if pattern is None:
        return []
    pieces = [(piece, exact) for word, exact in wanted.words for piece in unspaced.split(word)]
    each = [part for piece in pieces if (part := Query((piece,)).pattern) is not None]
    found = []
    for id, title in store.rows(f"SELECT c.id, c.title FROM conversations c WHERE {IN_LIST} ORDER BY c.updated DESC"):
        text = loaded(title)
        plain = text.lower() if text.isascii() else folded(text)
        if all(part.search(plain) for part in each):
            found.append(id)
            if len(found) >= limit:
                break
    return found


def _shown(store: Store, seq: int, pattern: re.Pattern[str] | None) -> tuple[str, str, tuple[tuple[str, bool], ...]]:
    """Id and role of a message, and the line around its first hit."""
    id, role, text, reasoning = store.rows("SELECT id, role, text, reasoning FROM messages WHERE seq = ?", seq)[0]
    for whole in (loaded(text), loaded(reasoning)):
        pieces = excerpt(whole[:LONGEST], pattern)
        if pieces:
            return id, role, pieces
    return id, role, ((" ".join(loaded(text)[: 2 * AROUND].split()), False),)


def excerpt(text: str, pattern: re.Pattern[str] | None) -> tuple[tuple[str, bool], ...]:
    """The surroundings of the first hit on one line, cut at the hits; nothing where there is none."""
    plain = folded(text)
    first = pattern.search(plain) if pattern is not None else None
    if pattern is None or first is None:
        return ()
    start, end = max(0, first.start() - AROUND), min(len(text), first.end() + AROUND)
    pieces: list[tuple[str, bool]] = []
    at = start
    for found in pattern.finditer(plain, first.start(), end):
        pieces += [(text[at : found.start()], False), (text[found.start() : found.end()], True)]
        at = found.end()
    pieces.append((text[at:end], False))
    if start:
        pieces[0] = (
            ("…" + pieces[0][0].partition(" ")[2], False) if " " in pieces[0][0] else ("…" + pieces[0][0], False)
        )
    if end < len(text):
        pieces.append(("…", False))
    return tuple((re.sub(r"\s+", " ", piece), hit) for piece, hit in pieces if piece)
