"""What the list of conversations and the search cost where there are many: 10,000 conversations of 100 messages.

    python -m benchmarks.conversations [--conversations 10000] [--messages 100] [--at FILE] [--json]

Times are of whole calls as the app makes them, through the journal's thread, in milliseconds: the first one with the
file just opened, and the median of more. `--at` keeps the store there and uses it again.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from spark_chat.history.journal import Journal
from spark_chat.history.schema import MIGRATIONS
from spark_chat.history.shelf import Shelf
from spark_chat.history.store import Store

WORDS_A_MESSAGE = 40
VOCABULARY = 20_000
CHARACTERS_A_MESSAGE, CHARACTERS = 40, 3_000
"""Of Chinese, in every second message."""
SEARCHES = {
    "a word in every message": "the",
    "one letter": "t",
    "three letters": "thr",
    "a frequent word's start": "wo12",
    "a rare word": "wo19999",
    "two words": "the wo150",
    "a phrase": '"the wo7"',
    "nothing": "absent",
    "one message of a million": "needle",
    "a character of every second message": "\u4e00",
    "a frequent pair inside a run": "\u4e00\u4e01",
    "a rare pair inside a run": "\u4fff\u4ffe",
    "three characters inside a run": "\u4e00\u4e02\u4e01",
    "a word and a pair": "the \u4e01\u4e02",
    "one run of a million": "\u5927\u6d77\u93c8",
}


def words(chance: random.Random, count: int) -> str:
    """Text whose words are as unevenly frequent as those of a language (Zipf)."""
    found = []
    for _ in range(count):
        rank = int(VOCABULARY ** chance.random())
        found.append("the" if rank == 1 else f"wo{rank}")
    return " ".join(found)


def run(chance: random.Random, count: int) -> str:
    """Text without spaces, of characters as unevenly frequent as those of Chinese."""
    return "".join(chr(0x4DFF + int(CHARACTERS ** chance.random())) for _ in range(count))


def messages(conversations: int, each: int) -> Iterator[tuple[Any, ...]]:
    """Rows of all messages."""
    chance = random.Random(1)
    texts = [words(chance, WORDS_A_MESSAGE) for _ in range(20_000)]
    runs = [run(chance, CHARACTERS_A_MESSAGE) for _ in range(20_000)]
    for talk in range(conversations):
        parent = ""
        for number in range(each):
            id = f"m{talk}-{number}"
            text = f"the {chance.choice(texts)}"
            if number % 2:
                text += f" \u4e00{chance.choice(runs)}"
            if talk == conversations // 2 and number == each // 2:
                text += " needle \u5c0f\u5927\u6d77\u93c8\u5c0f"
            yield f"c{talk}", id, parent, "assistant" if number % 2 else "user", text, "done", float(talk)
            parent = id


def build(path: Path, conversations: int, each: int) -> None:
    """The store, filled in bulk: the index is made at the end."""
    store = Store.open(path)
    connection = store.connection
    triggers = [statement for statement in MIGRATIONS[-1] if statement.startswith("CREATE TRIGGER")]
    for statement in triggers:
        connection.execute(f"DROP TRIGGER {statement.split()[2]}")
    with store.transaction():
        connection.executemany(
            "INSERT INTO conversations (id, title, created, updated, leaf) VALUES (?, ?, ?, ?, ?)",
            ((f"c{n}", f"conversation {n} of wo{n % 500}", n, n, f"m{n}-{each - 1}") for n in range(conversations)),
        )
        connection.executemany(
            "INSERT INTO messages (conversation, id, parent, role, text, state, created) VALUES (?, ?, ?, ?, ?, ?, ?)",
            messages(conversations, each),
        )
        connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
        for statement in triggers:
            connection.execute(statement)
    store.close()


def timed(ask: Callable[[], Future[Any]], times: int) -> dict[str, float]:
    """Milliseconds of the first call and the median of `times` more."""
    taken = []
    for _ in range(times + 1):
        began = time.perf_counter()
        found = ask().result()
        taken.append((time.perf_counter() - began) * 1000)
        assert found is not None
    return {"first_ms": round(taken[0], 1), "median_ms": round(statistics.median(taken[1:] or taken), 1)}


def measure(path: Path, times: int) -> dict[str, dict[str, float]]:
    """Every figure by its name."""
    found = {}
    journal = Journal(path)
    shelf = Shelf(journal)
    page = shelf.page(0, 100).result()
    total = page.total if page else 0
    journal.close()
    journal = Journal(path)
    shelf = Shelf(journal)
    found["list, first page"] = timed(lambda: shelf.page(0, 100), times)
    found["list, last page"] = timed(lambda: shelf.page(max(0, total - 100), 100), times)
    for name, text in SEARCHES.items():
        found[f"search: {name} ({text})"] = timed(lambda text=text: shelf.search(text), times)  # type: ignore[misc]
    found["open a conversation"] = timed(lambda: journal.load(f"c{total // 2}"), times)
    journal.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Times of the conversation list and the search.")
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--at", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.at or Path(folder) / "history.sqlite3"
        if not path.exists():
            build(path, given.conversations, given.messages)
        found = measure(path, given.times)
        size = path.stat().st_size
    if given.json:
        print(json.dumps({"bytes": size, "ms": found}))
        return
    print(f"{given.conversations:,} conversations of {given.messages}, a file of {size / 1e6:,.0f} MB")
    for name, times in found.items():
        print(f"{name:<60} first {times['first_ms']:7.1f} ms   then {times['median_ms']:7.1f} ms")


if __name__ == "__main__":
    main()
