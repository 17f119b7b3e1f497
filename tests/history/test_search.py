"""Search: words as a person means them, whatever is typed, always in step with what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_chat.history.journal import Journal, new_id
from spark_chat.history.message import Hit
from spark_chat.history.search import excerpt, folded, query
from spark_chat.history.shelf import Shelf

WAIT_S = 20


class Kept:
    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder / "history.sqlite3")
        self.shelf = Shelf(self.journal)

    def talk(self, prompt: str, answer: str = "", reasoning: str = "") -> str:
        talk, asked, answered = self.journal.begin(), new_id(), new_id()
        self.journal.prompt(talk, asked, prompt)
        if answer or reasoning:
            self.journal.answer_started(talk, answered, asked)
            self.journal.append(answered, answer, reasoning)
            self.journal.finish(answered, "done").result(WAIT_S)
        return talk

    def search(self, text: str) -> list[Hit]:
        hits = self.shelf.search(text).result(WAIT_S)
        assert hits is not None, "the search failed"
        return hits

    def found(self, text: str) -> list[str]:
        return [hit.listed.conversation for hit in self.search(text)]

    def sound(self) -> None:
        """The index says what the messages say."""
        checked = self.journal.ask(
            lambda store: store.rows("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
        )
        assert checked.result(WAIT_S) == []


@pytest.fixture
def kept(tmp_path: Path):  # type: ignore[no-untyped-def]
    found = Kept(tmp_path)
    yield found
    assert found.journal.close()


def test_every_word_must_be_there_in_any_order_case_and_accent(kept: Kept) -> None:
    one = kept.talk("Tell me of Café crème", "It is coffee with cream.")
    two = kept.talk("café noir", "Coffee alone.", "they want it black")
    assert kept.found("creme cafe") == [one]
    assert kept.found("COFFEE") == [two, one], "the newest first"
    assert kept.found("cof") == [two, one], "the beginning of a word is enough"
    assert kept.found("black") == [two], "reasoning counts"
    assert kept.found('"coffee with"') == [one] and kept.found('"with coffee"') == []
    assert kept.found("coffee -cream") == [one], "no operator: all of it is words"
    assert kept.found("nothing of it") == [] and kept.found("") == [] and kept.found("->") == []


def test_a_hit_is_shown_where_it_stands(kept: Kept) -> None:
    kept.talk("x", "word " * 200 + "the **needle**\nand " + "more " * 200)
    (hit,) = kept.search("needle")
    assert [text for text, is_hit in hit.text if is_hit] == ["needle"]
    line = "".join(text for text, _ in hit.text)
    assert line.startswith("…word") and line.endswith("more …"[-1]) and "the **needle** and more" in line
    assert (hit.role, hit.count) == ("assistant", 1)


def test_a_title_is_found_and_a_deleted_conversation_is_not(kept: Kept) -> None:
    one, two = kept.talk("alpha"), kept.talk("beta")
    kept.shelf.rename(one, "Übersicht of things")
    assert kept.found("ubersicht") == [one] and kept.search("ubersicht")[0].message == ""
    kept.shelf.delete(two)
    assert kept.found("beta") == []
    kept.shelf.bring_back(two)
    assert kept.found("beta") == [two]


def test_the_index_follows_changes_and_purges(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    one = kept.talk("alpha", "first words")
    kept.talk("beta", "lone \ud83d surrogate and \0 nul")
    assert len(kept.found("surrogate")) == 1
    kept.sound()
    kept.shelf.delete(one)
    kept.shelf.purge().result(WAIT_S)
    kept.shelf.bring_back(one)
    assert kept.found("alpha") == [one], "deleted a moment ago: it can come back"
    monkeypatch.setattr("spark_chat.history.listing.KEPT_S", -1.0)
    kept.shelf.delete(one)
    kept.shelf.purge()
    kept.shelf.bring_back(one)
    assert kept.found("alpha") == []
    rows = kept.journal.ask(lambda store: store.rows("SELECT count(*) FROM messages WHERE conversation = ?", one))
    assert rows.result(WAIT_S) == [(0,)]
    kept.sound()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(st.text(alphabet=st.characters(exclude_categories=())), st.text(alphabet='"*^:(){}+-~ aANDORNT\0\\'))
)
def test_no_text_is_an_error_of_syntax(kept: Kept, text: str) -> None:
    kept.search(text)


@given(st.text())
def test_folding_keeps_every_place(text: str) -> None:
    assert len(folded(text)) == len(text)


@given(st.text(alphabet="ab éÉ\n*", max_size=300), st.sampled_from(["a", "ab", "é", "b a"]))
def test_an_excerpt_is_a_part_of_the_text(text: str, words: str) -> None:
    pieces = excerpt(text, query(words).pattern)
    line = "".join(piece for piece, _ in pieces).strip("…")
    assert " ".join(line.split()) in " ".join(text.split())
    assert all(any(word in folded(piece) for word in folded(words).split()) for piece, hit in pieces if hit)
