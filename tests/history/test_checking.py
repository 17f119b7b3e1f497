"""Rows from outside come in only as the schema means them, and a file that was taken in before is still read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_chat.chat.markdown import markdown
from spark_chat.chat.restoring import numbers, restored
from spark_chat.history import document, listing, resume
from spark_chat.history.importing import BadDocument, parse, take_in
from spark_chat.history.store import Store
from spark_chat.meters.line import answer_line

pytestmark = pytest.mark.usefixtures("home")

NAME = st.text(max_size=3) | st.just("base64")
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAME, inner, max_size=2),
    max_leaves=4,
)
OF_MESSAGE = ("parent", "role", "text", "reasoning", "state", "numbers", "settings", "created", "edits", "shown")
OF_CONVERSATION = ("title", "created", "updated", "pinned", "deleted_at", "leaf", "settings", "place")
MESSAGES = st.dictionaries(st.sampled_from(OF_MESSAGE), ANY, max_size=2)
CONVERSATIONS = st.dictionaries(st.sampled_from(OF_CONVERSATION), ANY, max_size=2)
KEPT = st.dictionaries(
    st.sampled_from(("created", "shown", "numbers", "settings", "parent", "edits", "reasoning")),
    st.sampled_from(("x", 5, 1e308, "[1", '{"tokens": "many", "accepted_histogram": [1, "x"]}', b"\xff", "{" * 3000)),
)
"""What a column without a check may hold."""


def item(**message: Any) -> dict[str, Any]:
    ask = {"id": "ask", "parent": None, "role": "user", "text": "hi", "state": "done", "created": 1.0}
    answer = {**ask, "id": "answer", "parent": "ask", "role": "assistant", "text": "ho", **message}
    return {"conversation": {"id": "c", "title": "t", "created": 1.0, "updated": 2.0, "leaf": "answer"},
            "messages": [ask, answer]}  # fmt: skip


def text(*items: dict[str, Any]) -> str:
    return json.dumps({"format": document.FORMAT, "version": 1, "conversations": items})


def read_everywhere(store: Store) -> None:
    for row in listing.page(store, "", 0, 9).rows:
        kept = resume.load(store, row.conversation)
        assert kept is not None
        markdown(kept)
        for exchange in restored(kept):
            if exchange.numbers is not None:
                answer_line(exchange.numbers)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MESSAGES, CONVERSATIONS)
def test_whatever_comes_in_can_be_read_back(
    tmp_path_factory: pytest.TempPathFactory, message: dict[str, Any], conversation: dict[str, Any]
) -> None:
    store = Store.open(tmp_path_factory.mktemp("store") / "h.sqlite3")
    wanted = item(**message)
    wanted["conversation"].update(conversation)
    try:
        take_in(store, parse(text(wanted)))
    except BadDocument:
        assert store.rows("SELECT count(*) FROM messages") == [(0,)]
    else:
        assert store.rows("SELECT count(*) FROM conversations WHERE deleted_at IS NULL") == [(1,)]
    read_everywhere(store)
    store.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(KEPT)
def test_what_an_earlier_version_took_in_is_still_read(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]
) -> None:
    store = Store.open(tmp_path_factory.mktemp("store") / "h.sqlite3")
    take_in(store, parse(text(item())))
    with store.transaction() as connection:
        for name, value in values.items():
            connection.execute(f"UPDATE messages SET {name} = ? WHERE id = 'answer'", (value,))
        connection.execute("UPDATE conversations SET updated = 1e300, created = 'x'")
    read_everywhere(store)
    store.close()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"created": "yesterday"}, "messages.created is no moment"),
        ({"created": 1e308}, "messages.created is no moment"),
        ({"shown": "x"}, "messages.shown is no moment"),
        ({"parent": 5}, "messages.parent is no text"),
        ({"reasoning": {"base64": 5}}, "messages.reasoning is no base64"),
        ({"numbers": 5}, "messages.numbers is no text"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    store = Store.open(tmp_path / "h.sqlite3")
    with pytest.raises(BadDocument, match=why):
        take_in(store, parse(text(item(**change))))


def test_numbers_of_another_hand_are_left_out_one_by_one() -> None:
    found = numbers({"tokens": "many", "ttft_s": -1, "decode_tok_s": 3, "cold": 1, "finish": "length",
                     "verify_steps": 1.5, "accepted_histogram": [1, 2]})  # fmt: skip
    assert found is not None
    assert (found.tokens, found.ttft_s, found.decode_tok_s, found.cold) == (0, None, 3, False)
    assert (found.finish, found.verify_steps, found.accepted_histogram) == ("length", None, (1, 2))


def test_a_mark_of_byte_order_is_passed_over_and_a_long_version_is_said_shortly() -> None:
    assert len(parse("\ufeff" + text(item()))) == 1
    with pytest.raises(BadDocument) as refused:
        parse(json.dumps({"format": document.FORMAT, "version": "\x1b[2J" * 10_000, "conversations": []}))
    assert len(str(refused.value)) < 200
