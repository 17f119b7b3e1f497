"""However an answer comes, in the end it looks as if it had been parsed at once."""

from __future__ import annotations

from time import thread_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spark_chat.text.code import CodeHead
from spark_chat.tui.transcript.answer import Answer
from tests.transcript.laid_out import PALETTE, measured, streamed, whole
from tests.transcript.test_blocks import documents


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@given(documents, st.integers(1, 30), st.integers(20, 100))
@example("[a][ref] and [ref]\n\n[ref]: http://x.y\n", 3, 60)
@example("> quote\n  \n[ref]: http://x.y", 1, 20)
@example("1. a\n   1. b\n      1. c\n   2. d\n2. e\n\n   para\n3. f\n", 2, 60)
@example("1. a\n\n2. b\n10. c\n- d\n- e\n+ f\n> g\n- h\n", 1, 60)
def test_a_streamed_answer_looks_like_its_whole(text: str, size: int, width: int) -> None:
    expected = whole(text, width)
    if not text.strip():
        return
    assert streamed(cut(text, size), width) == expected
    assert streamed(cut(text, size), width, each=True) == expected


@given(documents, documents, st.integers(1, 30))
def test_an_answer_whose_begin_was_a_thought_looks_as_if_it_had_come_so(thought: str, text: str, size: int) -> None:
    known, found = Answer("a", "model"), Answer("a", "model")
    known.append("", thought + "!", "2 tok")
    for answer in (known, found):
        answer.prepare(60, 0)
    for part in cut(thought + "!", size):
        found.append(part, "", "")
        found.digest(float("inf"))
        measured(found)
    found.recast()
    for answer in (known, found):
        answer.append(text, "", "2 tok")
        answer.digest(float("inf"))
        answer.finish("3 tok", "done", "2 tok")
        answer.digest(float("inf"))
    assert (found.raw, found.reasoning) == (text, thought + "!")
    assert measured(found) == measured(known)
    for answer in (known, found):
        assert answer.toggle()
    assert measured(found) == measured(known)


def test_an_open_fence_is_plain_and_keeps_its_closing_marks_back() -> None:
    from tests.transcript.laid_out import PALETTE, Answer, measured

    answer = Answer("a", "m")
    answer.prepare(40, 0)
    seen = []
    for chunk in cut("```python\nx = 1\n```\nafter", 1):
        answer.append(chunk, "", "")
        answer.digest(float("inf"))
        seen.append(measured(answer))
    assert all("```" not in row for rows in seen[9:20] for row in rows)
    assert seen[15] == ["  python", "  x = 1"]
    assert PALETTE.code_bar == "  "


@pytest.mark.parametrize(
    "text",
    [
        ">" * 60 + " deep quote", "- " * 60 + "deep list", "> - " * 40 + "both", "[" * 5000 + "x", "*" * 3000 + "y",
        "|" * 500 + "\n" + "|-" * 500 + "|\n" + "|z" * 500, "`" * 2001 + "w", "    " * 50 + "indented",
        "![" * 900 + "i", "1. " * 90 + "n", "```" + "c" * 30_000 + "\nq",
    ],
    ids=lambda text: text[:6],
)  # fmt: skip
def test_hostile_shapes_show_all_their_words(text: str) -> None:
    assert text.strip("|")[-1] in "".join(streamed([text], 40))


@pytest.mark.parametrize("base", ["e", "日", "\t", "\u200d"], ids=ascii)
@pytest.mark.parametrize(
    "marks", ["\u0301\u0316" * 500, "\u0301" * 3999, "\u0301" * 9000, "\t" * 4000, "\u200b" * 2500]
)
def test_one_line_of_characters_without_a_width_is_shown(base: str, marks: str) -> None:
    text = (base + marks) * 6 + " end"
    rows = streamed(cut(text, 700), 40)
    assert "end" in "".join(rows)


def test_what_stands_after_a_fence_may_be_of_any_length() -> None:
    head = CodeHead("", "x" * 2_000_000)
    began = thread_time()
    assert len(head.rows(40, PALETTE)) == 1
    assert thread_time() - began < 0.2  # a character at a time it took minutes
