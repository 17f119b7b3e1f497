"""A conversation goes out as data and comes back the same, whatever is in it; what is kept is never written over."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_chat.history import document, record
from spark_chat.history.importing import BadDocument, Imported, parse, take_in
from spark_chat.history.store import Store, loaded, stored

pytestmark = pytest.mark.usefixtures("home")

TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
NUMBERS = st.one_of(
    st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)),
    st.just({"base64": "AA=="}),
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "one.sqlite3")


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "other.sqlite3")


def fill(store: Store, id: str, *exchanges: tuple[str, str], numbers: object = None) -> None:
    """A conversation with these prompts and answers."""
    with store.transaction() as connection:
        record.run(connection, "run", 1, 1.0, 1.0)
        record.conversation(connection, id, "run", 5.0, "{}")
        for number, (prompt, answer) in enumerate(exchanges):
            ask = f"{id}-{number}"
            record.prompt(connection, id, ask, prompt, None, 10.0 + number)
            record.answer(connection, id, f"{ask}.answer", ask, 10.5 + number)
            record.piece(connection, id, f"{ask}.answer", 0, answer, "hm", 11.0)
            record.finish(connection, id, f"{ask}.answer", "done", json.dumps(numbers or {}), '{"model": "m"}')


def moved(store: Store, other: Store, *ids: str) -> Imported:
    return take_in(other, parse("".join(document.whole(store, list(ids)))))


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of what belongs to conversations, but for what is of one file alone."""
    found = {}
    for table in ("conversations", *document.tables(store.connection)):
        names = [row[1] for row in store.rows(f"PRAGMA table_info({table})") if row[1] not in ("seq", "run")]
        found[table] = sorted(store.rows(f"SELECT {', '.join(names)} FROM {table}"), key=repr)
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3), NUMBERS, TEXT)
def test_what_goes_out_comes_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, exchanges: list[tuple[str, str]], numbers: dict[str, Any], draft: str
) -> None:
    folder = tmp_path_factory.mktemp("stores")
    one, two = Store.open(folder / "one.sqlite3"), Store.open(folder / "two.sqlite3")
    fill(one, "c", *exchanges, numbers=numbers)
    with one.transaction() as connection:
        record.draft(connection, "c", draft, 3.0)
        record.prompt(connection, "c", "late", "waits", None, 99.0)
        record.answer(connection, "c", "late.answer", "late", 99.5)
        record.piece(connection, "c", "late.answer", 3, "still com\udc80ing", "", 99.6)
    assert len(moved(one, two, "c").new) == 1
    assert contents(one) == contents(two)
    assert [row for row in two.rows("SELECT id FROM messages ORDER BY seq")] == one.rows(
        "SELECT id FROM messages ORDER BY seq"
    )
    assert two.integrity() == "ok"
    one.close()
    two.close()


@given(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), TEXT.map(stored), st.binary(max_size=20)))
def test_a_value_of_any_column_comes_back(value: Any) -> None:
    through = document.column(json.loads(json.dumps(document.plain("numbers", value), allow_nan=False)))
    if isinstance(value, float) and not math.isfinite(value):
        assert isinstance(through, str)
    else:
        assert through == value


def test_a_table_that_comes_later_goes_along(store: Store, other: Store) -> None:
    for one in (store, other):
        one.connection.execute("ALTER TABLE conversations ADD COLUMN colour TEXT")
        one.connection.execute("CREATE TABLE labels (conversation TEXT, message TEXT, label BLOB)")
    fill(store, "c", ("hi", "ho"))
    store.connection.execute("UPDATE conversations SET colour = 'red'")
    store.connection.execute("INSERT INTO labels VALUES ('c', 'c-0', x'ff00')")
    moved(store, other, "c")
    assert contents(store) == contents(other) and other.rows("SELECT label FROM labels") == [(b"\xff\x00",)]


def test_of_a_newer_spark_chat_what_is_not_known_is_left_out_by_name(store: Store, other: Store) -> None:
    fill(store, "c", ("hi", "ho"))
    tree = json.loads("".join(document.whole(store, ["c"])))
    tree["conversations"][0]["conversation"]["aura"] = "green"
    tree["conversations"][0]["halos"] = [{"id": "x"}]
    done = take_in(other, parse(json.dumps(tree)))
    assert "conversations.aura" in done.sentence and "halos" in done.sentence
    assert contents(store) == contents(other)


def test_twice_is_once_also_after_one_went_on(store: Store, other: Store) -> None:
    fill(store, "c", ("hi", "ho"))
    text = "".join(document.whole(store, ["c"]))
    assert len(take_in(other, parse(text)).new) == 1
    before = contents(other)
    assert len(take_in(other, parse(text)).there) == 1 and contents(other) == before
    fill(other, "c", ("hi", "ho"), ("and", "so"))
    before = contents(other)
    assert len(take_in(other, parse(text)).there) == 1 and contents(other) == before


def test_what_differs_under_the_same_id_becomes_one_copy_with_ids_of_its_own(store: Store, other: Store) -> None:
    fill(store, "c", ("hi", "ho"), ("a", "b"))
    fill(other, "c", ("something else", "indeed"))
    before = other.rows("SELECT text FROM messages WHERE conversation = 'c' ORDER BY seq")
    done = moved(store, other, "c")
    assert len(done.copies) == 1 and "as a copy" in done.sentence
    assert other.rows("SELECT text FROM messages WHERE conversation = 'c' ORDER BY seq") == before
    rows = other.rows("SELECT id, parent, text FROM messages WHERE conversation != 'c' ORDER BY seq")
    assert [text for *_, text in rows] == ["hi", "ho", "a", "b"]
    ids = [id for id, *_ in rows]
    assert [parent for _, parent, _ in rows] == [None, ids[0], ids[1], ids[2]]
    assert not set(ids) & {id for (id,) in store.rows("SELECT id FROM messages")}
    assert other.rows("SELECT leaf FROM conversations WHERE id != 'c'") == [(ids[3],)]
    after = contents(other)
    assert len(moved(store, other, "c").there) == 1 and contents(other) == after


def test_what_was_deleted_comes_back(store: Store) -> None:
    fill(store, "c", ("hi", "ho"))
    text = "".join(document.whole(store, ["c"]))
    with store.transaction() as connection:
        connection.execute("UPDATE conversations SET deleted_at = 1")
    assert document.listed(store) == []
    take_in(store, parse(text))
    assert document.listed(store) == ["c"]


def broken() -> list[tuple[str, Any]]:
    good: dict[str, Any] = {"format": document.FORMAT, "version": 1, "conversations": [
        {"conversation": {"id": "a", "created": 1.0, "updated": 1.0}, "messages": [
            {"id": "m", "role": "user", "text": "x", "state": "done", "created": 1.0}]}]}  # fmt: skip
    cases: list[tuple[str, Any]] = []

    def case(what: str, change: Any) -> None:
        tree = copy.deepcopy(good)
        change(tree, tree["conversations"][0])
        cases.append((what, tree))

    case("format", lambda tree, item: tree.pop("format"))
    case("version 2", lambda tree, item: tree.update(version=2))
    case("no list", lambda tree, item: tree.update(conversations={}))
    case('no "conversation"', lambda tree, item: item.pop("conversation"))
    case("no id", lambda tree, item: item["conversation"].update(id=""))
    case("no id", lambda tree, item: item["messages"][0].update(id=7))
    case("no text", lambda tree, item: item["messages"][0].update(text={"a": 1}))
    case("list of rows", lambda tree, item: item.update(drafts=[3]))
    case("can't be taken in", lambda tree, item: item["messages"][0].update(role="emperor"))
    case("can't be taken in", lambda tree, item: item["messages"].append(item["messages"][0]))
    case("can't be taken in", lambda tree, item: item["conversation"].pop("created"))
    case("can't be taken in", lambda tree, item: item["messages"][0].update(created={"base64": "!"}))
    case("can't be taken in", lambda tree, item: item["messages"][0].update(created=2**70))
    return cases


@pytest.mark.parametrize(("what", "tree"), broken())
def test_what_is_no_export_is_refused_whole_in_a_sentence(store: Store, what: str, tree: Any) -> None:
    if len(tree.get("conversations", ())) == 1:
        tree["conversations"].insert(0, {"conversation": {"id": "first", "created": 1, "updated": 1}, "messages": []})
    with pytest.raises(BadDocument, match=what):
        take_in(store, parse(json.dumps(tree)))
    assert store.rows("SELECT count(*) FROM conversations") == [(0,)]


@pytest.mark.parametrize("text", ["", "[1]", "nonsense", "[" * 100_000, '{"format": 3}'])
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(BadDocument):
        parse(text)


def test_the_words_of_what_came_in_are_found(store: Store, other: Store) -> None:
    from spark_chat.history.search import search

    fill(store, "c", ("where is the gazebo", "behind the pergola"))
    moved(store, other, "c")
    assert [hit.listed.conversation for hit in search(other, "", "pergola", 5)] == ["c"]
    assert loaded(other.rows("SELECT title FROM conversations")[0][0]) == "where is the gazebo"
