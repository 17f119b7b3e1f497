"""Recall keeps the draft and the edits, whatever the order of the keys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.tui.composer.recall import LONGEST, Recall


def test_up_to_the_oldest_and_down_to_the_draft():
    shelf = Recall()
    shelf.fill(["one", "two"])
    assert shelf.earlier("draft") == "two"
    assert shelf.earlier("two") == "one"
    assert shelf.earlier("one") is None
    assert shelf.later("one") == "two"
    assert shelf.later("two") == "draft"
    assert shelf.later("draft") is None


def test_edits_stay_until_something_is_sent():
    shelf = Recall()
    shelf.fill(["one", "two"])
    shelf.earlier("draft")
    assert shelf.earlier("two, edited") == "one"
    assert shelf.later("one") == "two, edited"
    shelf.sent("two, edited")
    assert shelf.draft == "draft"
    assert shelf.earlier(shelf.draft) == "two, edited"
    assert shelf.earlier("two, edited") == "two"


def test_the_same_prompt_again_is_kept_once():
    shelf = Recall()
    shelf.sent("one")
    shelf.sent("one")
    assert shelf.earlier("") == "one" and shelf.earlier("one") is None


def test_history_that_comes_late_goes_before_and_moves_nothing():
    shelf = Recall()
    shelf.sent("new")
    assert shelf.earlier("draft") == "new"
    shelf.fill(["old"])
    assert shelf.earlier("new, edited") == "old"
    assert shelf.later("old") == "new, edited"
    assert shelf.later("new, edited") == "draft"


def test_only_so_many_are_kept():
    shelf = Recall()
    shelf.fill([str(number) for number in range(LONGEST + 9)])
    shelf.sent("last")
    assert len(shelf.documents()) == LONGEST and shelf.earlier("") == "last"


@given(st.lists(st.sampled_from(["up", "down", "type"]), max_size=40), st.lists(st.text("ab", max_size=3), max_size=4))
def test_no_walk_loses_what_was_typed(walk, prompts):
    """A model beside it: a list of texts and a place in it."""
    shelf, texts = Recall(), [*prompts, ""]
    shelf.fill(prompts)
    place = len(prompts)
    for number, step in enumerate(walk):
        if step == "type":
            texts[place] += str(number)
            continue
        wanted = place + (-1 if step == "up" else 1)
        shown = (shelf.earlier if step == "up" else shelf.later)(texts[place])
        if 0 <= wanted < len(texts):
            place = wanted
            assert shown == texts[place]
        else:
            assert shown is None


def test_what_is_added_is_the_newest_and_the_draft_stays_below():
    recall = Recall()
    recall.sent("first")
    assert recall.earlier("draft") == "first" and recall.later("first") == "draft"
    recall.add(["added"])
    assert recall.earlier("draft") == "added" and recall.earlier("added") == "first"
    assert recall.later("first") == "added" and recall.later("added") == "draft"
