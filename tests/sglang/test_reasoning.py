"""However a text is cut into chunks, the same reasoning and answer come out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.reasoning import ReasoningSplitter

PIECES = st.lists(
    st.sampled_from(["<think>", "</think>", "<", "</", "think>", "a", " b", "\n", "\n\n", "é"]), max_size=12
)


def split(chunks: list[str], opened: bool) -> tuple[str, str]:
    splitter = ReasoningSplitter(opened)
    parts = [splitter.feed(chunk) for chunk in chunks] + [splitter.end()]
    return "".join(part[0] for part in parts), "".join(part[1] for part in parts)


@given(PIECES, st.lists(st.integers(0, 60), max_size=8), st.booleans())
def test_any_cut_gives_the_same(pieces: list[str], cuts: list[int], opened: bool) -> None:
    text = "".join(pieces)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert split(chunks, opened) == split([text], opened)


def test_a_thought_that_the_prompt_opened() -> None:
    assert split(["first\n</think>\n\nthen"], True) == ("first\n", "then")


def test_a_thought_that_the_model_opens() -> None:
    assert split(["<think>\nfirst</think>then <think>"], False) == ("first", "then <think>")


def test_a_thought_that_was_cut_off_stays_a_thought() -> None:
    assert split(["never done </thi"], True) == ("never done </thi", "")


def test_an_answer_alone() -> None:
    assert split(["2 < 3", " </think>"], False) == ("", "2 < 3 </think>")


@pytest.mark.parametrize("blank", ["", "\n", " \n\n"])
@pytest.mark.parametrize("size", [1, 3, 50])
def test_an_end_without_a_beginning_is_no_part_of_the_answer(blank: str, size: int) -> None:
    splitter = ReasoningSplitter(opened=False)
    text = f"{blank}</think>\n\nyes, </think> it is"
    found = [splitter.feed(text[at : at + size]) for at in range(0, len(text), size)] + [splitter.end()]
    assert "".join(thought for thought, _ in found) == ""
    assert "".join(answer for _, answer in found) == "yes, </think> it is"


def test_what_only_begins_like_an_end_is_text() -> None:
    splitter = ReasoningSplitter(opened=False)
    assert [splitter.feed("</thi"), splitter.feed("s>")] == [("", ""), ("", "</this>")]
    splitter = ReasoningSplitter(opened=False)
    assert [splitter.feed("</th"), splitter.end()] == [("", ""), ("", "</th")]
