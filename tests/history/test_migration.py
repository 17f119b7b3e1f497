"""A file of the first schema, dumped from a store that the program of that time wrote, opened by this one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from spark_chat.history import unspaced
from spark_chat.history.journal import Journal
from spark_chat.history.schema import APPLICATION_ID, MIGRATIONS, SCHEMA
from spark_chat.history.shelf import Shelf
from spark_chat.history.store import HistoryProblem, Store

WAIT_S = 20
DUMP = Path(__file__).with_name("schema-1.sql")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "history.sqlite3"
    connection = sqlite3.connect(path)
    connection.executescript(DUMP.read_text())
    connection.close()
    return path


def test_an_old_file_is_copied_brought_forward_and_searched(old: Path) -> None:
    said: list[str] = []
    journal = Journal(old, said.append)
    shelf = Shelf(journal)
    hits = shelf.search("rayleigh").result(WAIT_S)
    assert hits is not None
    assert [hit.listed.conversation for hit in hits] == ["two", "one"]
    assert "".join(text for text, _ in hits[1].text) == "Rayleigh scattering: short waves scatter more."
    assert [text for text, is_hit in hits[1].text if is_hit] == ["Rayleigh"]
    page = shelf.page(0, 10).result(WAIT_S)
    assert page is not None
    assert {row.title for row in page.rows} == {"Why is the sky blue?", "Grüße \ud83d aus Köln", "cut off soon"}
    one, two, three = (journal.load(name).result(WAIT_S) for name in ("one", "two", "three"))
    assert one is not None and two is not None and three is not None
    assert [m.text for m in one.messages if m.role == "user"] == ["Why is the sky blue?", "And red at night?"]
    assert one.messages[1].reasoning == "The person asks about light." and one.messages == one.all
    assert (two.draft, two.messages[-1].text, two.messages[-1].state) == ("half a thought", "never sent", "queued")
    assert three.messages[-1].text == "partial text"
    journal.close()
    assert len(said) == 1 and f"from schema 1 to {SCHEMA}" in said[0]
    (copy,) = old.parent.glob("*.schema-1.backup")
    kept = sqlite3.connect(copy)
    assert kept.execute("PRAGMA user_version").fetchone() == (1,)
    kept.close()
    store = Store.open(old)
    assert store.integrity() == "ok"
    store.rows("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    store.close()


def test_a_migration_that_was_killed_begins_anew(old: Path) -> None:
    """All of it is one transaction: what is there after any statement but the last is the old file."""
    connection = sqlite3.connect(old)
    connection.execute("CREATE TABLE words (taken)")  # the migration fails here, in its middle
    connection.commit()
    said: list[str] = []
    journal = Journal(old, said.append)
    assert journal.prompts().result(WAIT_S) is None
    journal.close()
    columns = {row[1] for row in connection.execute("PRAGMA table_info(messages)")}
    assert "edits" not in columns and connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.execute("DROP TABLE words")
    connection.commit()
    connection.close()
    journal = Journal(old, said.append)
    assert journal.prompts().result(WAIT_S) is not None
    journal.close()


# ------------------------------------------------------------------ the whole ladder


def of_schema(path: Path, schema: int) -> Path:
    """A file as a program of that schema left it, with a conversation in it."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.create_function(unspaced.FUNCTION, 1, unspaced.indexed, deterministic=True)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statements in MIGRATIONS[:schema]:
        for statement in statements:
            connection.execute(statement)
    connection.execute("INSERT INTO conversations (id, title, created, updated, leaf) VALUES ('c', 'Sky', 1, 2, 'a')")
    connection.execute(
        "INSERT INTO messages (conversation, id, parent, role, text, state, created) VALUES"
        " ('c', 'q', '', 'user', 'Why is it blue?', 'done', 1),"
        " ('c', 'a', 'q', 'assistant', 'Scattering, 今天的天气.', 'done', 2)"
    )
    connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()
    return path


@pytest.mark.parametrize("schema", range(1, SCHEMA + 1))
def test_from_every_schema_to_this_one(tmp_path: Path, schema: int) -> None:
    path = of_schema(tmp_path / "history.sqlite3", schema)
    said: list[str] = []
    journal = Journal(path, said.append)
    found = journal.load("c").result(WAIT_S)
    hits = Shelf(journal).search("scattering 天气").result(WAIT_S)
    journal.close()
    assert found is not None and [m.text for m in found.messages] == ["Why is it blue?", "Scattering, 今天的天气."]
    assert hits is not None and [hit.listed.conversation for hit in hits] == ["c"]
    copies = [copy.name for copy in tmp_path.glob("*.backup")]
    assert copies == ([f"history.sqlite3.schema-{schema}.backup"] if schema < SCHEMA else [])
    assert len(said) == len(copies), "said where something was done, and only there"
    assert columns(path) == columns(of_schema(tmp_path / "fresh.sqlite3", SCHEMA))


def test_an_older_program_leaves_a_newer_file_as_it_is(tmp_path: Path) -> None:
    path = of_schema(tmp_path / "history.sqlite3", SCHEMA)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE of_the_future (x)")
    connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()
    before = path.read_bytes()
    said: list[str] = []
    journal = Journal(path, said.append)
    journal.load("c").result(WAIT_S)
    journal.close()
    assert said and str(path) in said[0] and f"schema {SCHEMA + 1}" in said[0], said
    assert path.read_bytes() == before and [copy for copy in tmp_path.iterdir() if "backup" in copy.name] == []


@pytest.mark.parametrize("older", range(1, SCHEMA))
def test_the_program_of_each_older_schema_refuses_this_one_s_file(
    tmp_path: Path, older: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = of_schema(tmp_path / "history.sqlite3", SCHEMA)
    before = path.read_bytes()
    monkeypatch.setattr("spark_chat.history.store.SCHEMA", older)
    monkeypatch.setattr("spark_chat.history.store.MIGRATIONS", MIGRATIONS[:older])
    with pytest.raises(HistoryProblem, match=f"schema {SCHEMA}"):
        Store.open(path)
    assert path.read_bytes() == before


def columns(path: Path) -> dict[str, set[str]]:
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'index')")]
    found = {table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")} for table in tables}
    connection.close()
    return found
