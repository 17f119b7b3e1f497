"""Answers that no model should give: megabytes in one line, a code fence without an end. What one update may cost is
bounded by pieces and blocks of bounded size; everything that came is there."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from spark_chat.text import blocks
from spark_chat.text.blocks import FENCE_LINES, LARGEST, BlockSplitter
from spark_chat.text.clean import clean
from spark_chat.tui.transcript import tail
from spark_chat.tui.transcript.answer import SLICE, Answer
from spark_chat.tui.transcript.slot import Closed
from tests.transcript.laid_out import PALETTE, measured, streamed, whole
from tests.transcript.test_blocks import documents
from tests.transcript.test_streaming import cut

INDENTED = re.compile(r"^ {1,3}(`{3}|~{3})", re.MULTILINE)
PIECE = 8_000
"""Characters of the largest piece of plain text."""
MEGABYTE = 300_000


def finished(text: str, size: int, width: int = 60) -> Answer:
    answer = Answer("a", "m")
    answer.prepare(width, 0)
    for part in cut(text, size):
        answer.append(part, "", "")
        answer.digest(float("inf"))
    answer.finish("", "done", "")
    answer.digest(float("inf"))
    return answer


def opened(answer: Answer) -> list[str]:
    """What each of its pieces stands for; closed blocks are opened."""
    at = 0
    while at < len(answer.slots):
        if isinstance(answer.slots[at].piece, Closed):
            answer.measure(at, PALETTE)
        at += 1
    return [slot.piece.source for slot in answer.slots]


@pytest.mark.parametrize("size", [MEGABYTE, 5_000], ids=["at once", "in chunks"])
@pytest.mark.parametrize(
    "text",
    ["word and " * (MEGABYTE // 9), "x" * MEGABYTE, "日本" * (MEGABYTE // 2), "\0" * MEGABYTE, "- " * (MEGABYTE // 2),
     "> a\n" * (MEGABYTE // 4), "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * (MEGABYTE // 10), "- item\n  on\n" * 25_000],
    ids=["words", "no blank", "wide", "NUL", "marks", "quote", "table", "list"],
)  # fmt: skip
def test_a_megabyte_stands_in_pieces_of_bounded_size(text: str, size: int) -> None:
    answer = finished(text, size)
    pieces = opened(answer)
    assert "".join("".join(pieces).split()) == "".join(clean(text).split())
    assert max(map(len, pieces)) <= (PIECE if len(text.split("\n", 1)[0]) > LARGEST else LARGEST)
    assert answer.raw == text


@pytest.mark.parametrize("size", [MEGABYTE, 5_000], ids=["at once", "in chunks"])
def test_a_fence_without_an_end_is_closed_block_by_block(size: int) -> None:
    text = "```python\n" + "x = 1\n" * 10_000
    answer = Answer("a", "m")
    answer.prepare(60, 0)
    for part in cut(text, size):
        answer.append(part, "", "")
        answer.digest(float("inf"))
    assert sum(not isinstance(slot.piece, Closed) for slot in answer.slots) <= FENCE_LINES // 32 + 3
    answer.finish("", "done", "")
    answer.digest(float("inf"))
    assert max(slot.piece.source.count("\n") for slot in answer.slots) <= FENCE_LINES
    assert "".join(opened(answer)) == text and answer.raw == text
    assert len(measured(answer)) == 10_001


def trimmed(rows: list[str]) -> list[str]:
    """Without blank rows at the end: of a last line that is blank and has no newline, Markdown makes no row."""
    while rows and not rows[-1]:
        rows = rows[:-1]
    return rows


@settings(max_examples=50, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, st.integers(1, 30), st.sampled_from([1, 2, 3]), st.booleans())
@example("~~~~ py\na\n\n~~~\nb\n~~~~\n\nafter\n\n~~~\nopen\n\n\n", 3, 2, True)
@example("```\n\n``` ␍", 1, 1, False)
@example("```\n\n\n\n\n```\n- a\n\n  ```\n  b\n  c\n  ```\n", 2, 1, True)
def test_code_that_goes_on_in_another_block_looks_like_one(
    monkeypatch: pytest.MonkeyPatch, text: str, size: int, lines: int, each: bool
) -> None:
    if not text.strip():
        return
    assume(not INDENTED.search(text))  # lines of such a fence keep their indentation from the second block on
    expected = trimmed(whole(text, 50))
    with monkeypatch.context() as patched:
        patched.setattr(blocks, "FENCE_LINES", lines)
        assert trimmed(streamed(cut(text, size), 50, each=each)) == expected


@settings(max_examples=50)
@given(documents, st.integers(1, 30), st.integers(1, 3))
def test_blocks_of_any_bound_are_what_was_fed(text: str, size: int, lines: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "FENCE_LINES", lines)
        patched.setattr(blocks, "LARGEST", 40)
        splitter = BlockSplitter()
        found = []
        for part in cut(text, size):
            found += splitter.feed(part)
            assert text.startswith("".join(block.source for block in found) + splitter.tail)
        found += splitter.finish()
    assert "".join(block.source for block in found) == text


def test_a_megabyte_that_comes_at_once_is_taken_in_by_slices() -> None:
    answer = Answer("a", "m")
    answer.prepare(60, 0)
    answer.append("x" * MEGABYTE, "", "")
    assert not answer.digest(0.0), "the time is over: one slice, and the rest later"
    assert max(map(len, answer._pending)) <= SLICE
    assert sum(map(len, answer._pending)) == MEGABYTE - SLICE


def test_a_thought_of_a_megabyte_opens_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped: list[int] = []
    whole_wrap = tail.wrap
    monkeypatch.setattr(tail, "wrap", lambda text, width: wrapped.append(len(text)) or whole_wrap(text, width))
    answer = Answer("a", "m")
    answer.prepare(60, 0)
    thought = "hm so " * (MEGABYTE // 6)
    answer.append("", thought, "")
    answer.digest(float("inf"))
    assert answer.toggle() and sum(wrapped) < 50_000
    pieces = [slot.piece.source for slot in answer.slots[1:]]
    assert "".join(pieces).startswith(thought) and max(map(len, pieces)) <= PIECE
    answer.append("and on", "", "")
    answer.digest(float("inf"))
    assert "and on" in measured(answer)
