"""Answers that go on where they were cut off: what the engine is given, and what of it comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine import chat_template
from spark_chat.engine.codec import decode_command, encode
from spark_chat.engine.llama_answer import Answer, request
from spark_chat.engine.protocol import Generate, Opening, Ready, Sampling, Turn
from spark_chat.engine.reasoning import CLOSE, OPEN, ReasoningSplitter, before
from tests.engine.probe import Probe, recipe

COUNT = [Turn("user", "Count from one to twenty in words.")]


def going_on(id: str, max_tokens: int, **opening: str) -> Generate:
    sampling = Sampling(temperature=0, max_tokens=max_tokens, seed=1)
    return Generate(id=id, messages=COUNT, sampling=sampling, opening=Opening(**opening))


def test_what_was_said_stands_behind_the_prompt_as_the_model_said_it() -> None:
    assert before("text", "", opened=False) == "text"
    assert before("", "hm", opened=False) == f"{OPEN}\nhm" and before("", "hm", opened=True) == "hm"
    assert before("text", "hm\n", opened=True) == f"hm\n{CLOSE}\n\ntext"
    assert before("text", "hm", opened=False) == f"{OPEN}\nhm\n{CLOSE}\n\ntext"


@given(st.text(alphabet="a <>/think\n", max_size=30), st.lists(st.integers(1, 5), min_size=1))
def test_the_rest_of_an_answer_is_text_whatever_it_begins_with(text: str, sizes: list[int]) -> None:
    splitter, found, at = ReasoningSplitter(opened=False, going_on=True), "", 0
    for size in [*sizes, len(text)]:
        thought, answer = splitter.feed(text[at : at + size])
        assert thought == ""
        found, at = found + answer, at + size
    rest = splitter.end()
    assert (rest[0], found + rest[1]) == ("", text)


def test_the_rest_of_a_thought_ends_where_the_model_ends_it() -> None:
    answer = Answer("id", False, opened=True, going_on=True)
    pieces = [answer.take({"choices": [{"delta": {"content": part}}], "timings": {"predicted_n": n}}, 0.0)
              for n, part in enumerate((" of tea", "</think>\n", "\nHello"), 1)]  # fmt: skip
    assert "".join(piece.reasoning for piece in pieces if piece) == " of tea"
    assert "".join(piece.text for piece in pieces if piece) == "Hello"


def test_the_request_leaves_the_assistant_s_turn_open_and_comes_through_the_wire() -> None:
    command = decode_command(encode(going_on("x", 8, text="One, two", thought="")))
    assert isinstance(command, Generate)
    body = request(command)
    assert body["messages"][-1] == {"role": "assistant", "content": "One, two"}
    assert body["chat_template_kwargs"] == {"enable_thinking": False}, "no thought is begun behind a text"
    with_thought = request(going_on("x", 8, text="", thought="hm"), opened=True)
    assert with_thought["messages"][-1]["content"] == "hm"
    assert with_thought["chat_template_kwargs"] == {"enable_thinking": True}


class Tokenizer:
    """A template that opens a thought; an id a character."""

    def apply_chat_template(self, messages: Any, *, tokenize: bool, enable_thinking: bool, **_: Any) -> Any:
        text = "".join(f"<{turn['role']}>{turn['content']}" for turn in messages) + "<assistant>"
        text += OPEN if enable_thinking else ""
        return [ord(letter) for letter in text] if tokenize else text

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return [ord(letter) for letter in text]


def test_sglang_s_prompt_ends_in_what_was_said() -> None:
    def text(opening: Opening) -> tuple[str, bool]:
        ids, inside = chat_template.prompt(Tokenizer(), [Turn("user", "hi")], True, opening)
        return "".join(map(chr, ids)), inside

    assert text(Opening(text="so")) == ("<user>hi<assistant>so", False)
    assert text(Opening(thought="hm")) == (f"<user>hi<assistant>{OPEN}hm", True)
    assert text(Opening(text="so", thought="hm")) == (f"<user>hi<assistant>{OPEN}hm\n{CLOSE}\n\nso", False)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def probe(model: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Probe]:
    async with Probe() as started:
        log = tmp_path_factory.mktemp("log") / "worker.log"
        assert isinstance(await started.start(recipe(model, context=512), log), Ready)
        yield started


@pytest.mark.model
@pytest.mark.asyncio(loop_scope="module")
async def test_llama_goes_on_where_the_answer_was_cut_and_counts_the_new_part_alone(probe: Probe) -> None:
    whole = Generate(id="w", messages=COUNT, sampling=Sampling(temperature=0, max_tokens=40, seed=1))
    deltas, _ = await probe.answer(whole)
    text = "".join(delta.text for delta in deltas)
    first, cut = await probe.answer(
        Generate(id="a", messages=COUNT, sampling=Sampling(temperature=0, max_tokens=15, seed=1))
    )
    start = "".join(delta.text for delta in first)
    assert cut.finish == "length" and text.startswith(start)
    rest, done = await probe.answer(going_on("b", 10, text=start))
    added = "".join(delta.text for delta in rest)
    assert done.usage.completion_tokens == 10 and done.finish == "length"
    assert text.startswith(start + added), "greedy, so the same as in one go"
    assert done.usage.prompt_tokens == cut.usage.prompt_tokens + 15
    assert done.usage.cached_tokens >= cut.usage.prompt_tokens, "what the engine held is used again"
