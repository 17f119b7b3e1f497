"""Lines become prompts, and nothing of them is lost."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from spark_chat.plain.gathering import Gathering

LINES = st.lists(
    st.one_of(
        st.sampled_from(['"""', "```", "```py", "~~~~", "", "\\", "a\\", "a\\\\", " "]), st.text("ab `\\~", max_size=6)
    )
)


def prompts(*lines: str) -> list[str]:
    gathering = Gathering()
    found = [text for line in lines if (text := gathering.take(line)) is not None]
    rest = gathering.rest()
    return found + ([rest] if rest is not None else [])


def test_a_line_is_a_prompt_and_a_blank_one_is_none() -> None:
    assert prompts("one", "", "  ", "two") == ["one", "two"]


def test_three_things_make_one_prompt_of_several_lines() -> None:
    assert prompts("what is \\", "this?") == ["what is \nthis?"]
    assert prompts("look:\\", "```c", "", "int x;\\", "```", "next") == ["look:\n```c\n\nint x;\\\n```", "next"]
    assert prompts('"""', "one", "", "```", "two", '"""', "next") == ["one\n\n```\ntwo", "next"]
    assert prompts("~~~~", "~~~", "~~~~~") == ["~~~~\n~~~\n~~~~~"]


def test_two_backslashes_are_text_and_code_within_a_line_opens_nothing() -> None:
    assert prompts("C:\\\\", "```a```", "next") == ["C:\\\\", "```a```", "next"]


def test_what_is_open_at_the_end_is_a_prompt() -> None:
    assert prompts("```", "x") == ["```\nx"]
    assert prompts('"""', "x") == ["x"]
    assert prompts('"""') == []


@given(LINES)
@example(['"""', "x", '"""', "```", "y"])
def test_no_word_is_lost_and_the_end_leaves_nothing(lines: list[str]) -> None:
    gathering = Gathering()
    found = "".join(text for line in lines if (text := gathering.take(line)) is not None) + (gathering.rest() or "")
    assert not gathering.open and gathering.rest() is None
    assert [char for char in found if char in "ab"] == [char for line in lines for char in line if char in "ab"]
