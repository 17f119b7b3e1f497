"""Chunks as llama.cpp gives them -> Deltas and Done."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.codec import encode
from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.llama_answer import MERGED, Answer, Piece, failure, merged, request
from spark_chat.engine.protocol import MAX_FRAME, Done, Generate, Sampling, Turn
from spark_chat.engine.reasoning import CLOSE, ReasoningSplitter


def chunk(content: str | None = None, ids: int = 0, reasoning: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {key: value for key, value in (("content", content), ("reasoning_content", reasoning)) if value is not None}
    choice = {"finish_reason": more.pop("finish", None), "index": 0, "delta": delta}
    figures = {"prompt_n": 5, "cache_n": 3, "prompt_ms": 20.0, "predicted_n": ids, "predicted_ms": ids * 8.0}
    return {"choices": [choice], "timings": {**figures, **more.pop("timings", {})}, **more}


def run(chunks: list[dict[str, Any]], **kinds: Any) -> tuple[str, str, Done]:
    answer = Answer("a", kinds.pop("speculative", False), **kinds)
    pieces = [answer.take(each, float(index)) for index, each in enumerate(chunks)]
    pieces.append(answer.rest(99.0))
    deltas = [answer.delta([piece]) for piece in pieces if piece is not None]
    done = answer.done(100.0, None)
    return "".join(d.reasoning for d in deltas), "".join(d.text for d in deltas), done


def end(ids: int, reason: str = "stop", truncated: bool = False) -> dict[str, Any]:
    return chunk(ids=ids, finish=reason, __verbose={"truncated": truncated})


def test_a_plain_answer_counts_the_end_id() -> None:
    _, text, done = run([chunk("Hi", 1), chunk("!", 2), end(3)])
    assert text == "Hi!" and done.finish == "stop"
    usage = done.usage
    assert (usage.completion_tokens, usage.prompt_tokens, usage.cached_tokens) == (3, 8, 3)
    assert (usage.verify_steps, usage.accepted_drafts, usage.accepted_histogram) == (None, None, None)
    assert done.timings.prefill_s == 0.02


@pytest.mark.parametrize(
    ("reason", "truncated", "finish"),
    [("stop", False, "stop"), ("length", False, "length"), ("length", True, "context")],
)
def test_how_it_ended(reason: str, truncated: bool, finish: str) -> None:
    assert run([chunk("x", 1), end(1, reason, truncated)])[2].finish == finish


def test_without_a_last_chunk_it_was_stopped_from_here() -> None:
    done = run([chunk("x", 1), chunk("y", 2)])[2]
    assert done.finish == "abort" and done.usage.completion_tokens == 2


def test_stopped_before_the_first_id() -> None:
    progress = {"total": 77, "cache": 0, "processed": 40, "time_ms": 3}
    done = run([{**chunk(), "prompt_progress": progress}])[2]
    assert (done.usage.completion_tokens, done.usage.prefill_tokens, done.usage.prompt_tokens) == (0, 0, 77)


def test_the_reading_of_the_prompt_is_told_until_the_first_id() -> None:
    answer = Answer("a", speculative=False)
    progress = {"total": 80, "cache": 0, "processed": 20, "time_ms": 3}
    piece = answer.take({**chunk(), "prompt_progress": progress}, 1.0)
    assert piece is not None
    delta = answer.delta([piece])
    assert (delta.tokens, delta.text, delta.reading) == (0, "", 0.25)
    first = answer.take(chunk("x", 1), 2.0)
    assert first is not None and answer.delta([first]).reading is None


def test_stopped_inside_a_step_counts_what_came() -> None:
    drafts = {"draft_n": 8, "draft_n_accepted": 6}
    usage = run([chunk("a", 1), chunk("b", 2, timings=drafts), chunk("c", 3, timings={**drafts, "predicted_ms": 16.0})],
                speculative=True)[2].usage  # fmt: skip
    assert (usage.completion_tokens, usage.verify_steps, usage.accepted_drafts) == (3, 1, 2)
    assert usage.accepted_histogram == [0, 0, 1]


def test_thoughts_that_llama_cpp_split() -> None:
    thought, text, done = run([chunk(reasoning="\nhm", ids=2), chunk(reasoning="m", ids=3), chunk("\n\nA", 6), end(7)])
    assert (thought, text) == ("hmm", "A")
    assert done.usage.reasoning_tokens == 5


@pytest.mark.parametrize(
    ("opened", "raw", "thought", "text"),
    [
        (False, "<think>a</think>b", "a", "b"),
        (True, "a</think>\n\nb", "a", "b"),
        (True, "still thinking", "still thinking", ""),
        (False, "<think>cut", "cut", ""),
        (False, "Write `<think>x</think>` so.", "", "Write `<think>x</think>` so."),
        (False, "a < b", "", "a < b"),
        (False, "<thi", "", "<thi"),
        (True, "a</th", "a</th", ""),
    ],
)
@given(st.data())
def test_thoughts_that_are_left_in_the_text(
    opened: bool, raw: str, thought: str, text: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(raw) - 1))))
    parts = [raw[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    chunks = [chunk(part, ids) for ids, part in enumerate(parts, 1)]
    assert run(chunks, opened=opened)[:2] == (thought, text)


BARE = "Let me see.\n\nIt is two.\n</think>\n\nTwo."


@given(st.sets(st.integers(1, len(BARE) - 1)), st.booleans())
def test_a_thought_that_only_ends_is_told_as_one_when_it_does(cuts: set[int], together: bool) -> None:
    marks = sorted(cuts)
    parts = [BARE[start:stop] for start, stop in zip([0, *marks], [*marks, len(BARE)], strict=True)]
    answer = Answer("a", False)
    pieces = [answer.take(chunk(part, ids), float(ids)) for ids, part in enumerate([*parts, ""], 1)]
    pieces.append(answer.rest(99.0))
    there = [piece for piece in pieces if piece is not None]
    deltas = [answer.delta(there)] if together else [answer.delta([piece]) for piece in there]
    text = thought = ""
    for delta in deltas:
        if delta.was_thought:
            thought, text = thought + text, ""
        thought, text = thought + delta.reasoning, text + delta.text
    assert (thought, text) == ("Let me see.\n\nIt is two.\n", "Two.")
    assert sum(delta.was_thought for delta in deltas) == 1
    usage = answer.done(100.0, None).usage
    ended = BARE.index("Two.")
    last = sum(mark <= ended for mark in marks)  # parts before the one that the answer begins in
    assert (usage.completion_tokens, usage.reasoning_tokens) == (len(parts) + 1, last)


@pytest.mark.parametrize(
    "text",
    [
        "```html\n</think>\n```\nThat.", "~~~\n```\n</think>\n~~~\nThat.", "``` `a\n</think>`",
        "Write it so: </think>\n\nThat.", "It is `</think>`.\nThat.", "So\n    </think>\nThat.", "It ends\n</think>",
        "First\n<think>\nhm\n</think>\nThat.", "So\n</think>.\n", "So\n</thinking>\n", "So\n\t</think>\nThat.",
    ],
)  # fmt: skip
@given(st.data())
def test_the_words_of_a_tag_in_an_answer_stay_in_it(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text) - 1))))
    parts = [text[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert run([chunk(part, ids) for ids, part in enumerate(parts, 1)])[:2] == ("", text)


@given(st.text(alphabet="a\n`~ </think>", max_size=60), st.lists(st.integers(1, 9), min_size=1))
def test_no_character_is_lost_but_the_tag_s_line(text: str, sizes: list[int]) -> None:
    text = "begin " + text.replace("<think>", "")
    splitter, thought, answer, at = ReasoningSplitter(opened=False), "", "", 0
    for size in [*sizes * len(text), len(text)]:
        found = splitter.feed(text[at : at + size])
        if splitter.recast():
            thought, answer = thought + answer, ""
        thought, answer, at = thought + found[0], answer + found[1], at + size
    rest = splitter.end()
    thought, answer = thought + rest[0], answer + rest[1]
    if not thought:
        assert answer == text
    else:
        assert text.startswith(thought) and text.endswith(answer) and thought.endswith("\n")
        assert text[len(thought) : len(text) - len(answer)].strip() == CLOSE


def test_a_tag_behind_a_thought_that_llama_cpp_split_is_text() -> None:
    found = run([chunk(reasoning="hm", ids=1), chunk("So\n</think>\nthat", 2), end(3)])
    assert found[:2] == ("hm", "So\n</think>\nthat")


def test_the_first_id_is_told_even_where_its_text_is_held_back() -> None:
    answer = Answer("a", False)
    piece = answer.take(chunk("<", 1), 4.0)
    assert piece is not None and answer.delta([piece]).tokens == 1 and answer.delta([piece]).text == ""


def test_too_long_a_conversation_says_how_many_tokens_too_many() -> None:
    error = {"code": 400, "type": "exceed_context_size_error", "message": "m", "n_prompt_tokens": 700, "n_ctx": 512}
    with pytest.raises(EngineFailure) as caught:
        Answer("a", False).take({"error": error}, 0.0)
    assert caught.value.code == "overflow"
    assert caught.value.facts == {"prompt_tokens": 700, "context": 512}
    assert "189 too many" in caught.value.why


def test_other_errors() -> None:
    assert failure({"type": "invalid_request_error", "message": "bad top_p"}).why == "bad top_p"
    assert failure("broken").code == "request"


@given(st.lists(st.integers(0, MERGED // 2), max_size=12), st.booleans())
def test_pieces_that_waited_are_joined_within_the_bound(sizes: list[int], first: bool) -> None:
    answer = Answer("a", False)
    answer.steps.take({"predicted_n": 1})
    pieces = [Piece("\x01" * size, "", answer.steps.counts(), None, float(n)) for n, size in enumerate(sizes)]
    groups = merged(pieces, first)
    assert [piece for group in groups for piece in group] == pieces
    assert not first or not groups or len(groups[0]) == 1
    for group in groups:
        delta = answer.delta(group)
        assert delta.time == group[-1].time and len(encode(delta)) < MAX_FRAME // 8


def test_the_request_has_all_of_the_sampling() -> None:
    sampling = Sampling(temperature=0.3, top_p=0.5, top_k=7, max_tokens=9, seed=5, ignore_eos=True)
    body = request(Generate(id="a", messages=[Turn("user", "x")], sampling=sampling, thinking=False))
    wanted = {"temperature": 0.3, "top_p": 0.5, "top_k": 7, "max_tokens": 9, "seed": 5, "ignore_eos": True}
    assert {key: body[key] for key in wanted} == wanted
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    free = request(Generate(id="a", messages=[Turn("user", "x")], sampling=Sampling()))
    assert "seed" not in free
