"""From a conversation to token ids, through the tokenizer's own chat template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.protocol import Opening, Turn
from spark_chat.engine.reasoning import OPEN, before


def prompt(
    tokenizer: Any, turns: Sequence[Turn], thinking: bool, opening: Opening | None = None
) -> tuple[list[int], bool]:
    """The ids, and whether they end inside a thought. With an `opening` they end in what the answer said so far: the
    ids of the prompt stay as they are, so that what the engine holds of it is used again. Raises EngineFailure."""
    if opening is not None:
        ids, opened = prompt(tokenizer, turns, bool(opening.thought))
        said = tokenizer.encode(before(opening.text, opening.thought, opened), add_special_tokens=False)
        return [*ids, *(int(token) for token in said)], not opening.text
    messages = [{"role": turn.role, "content": turn.content} for turn in turns]
    try:
        text = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False, enable_thinking=thinking
        )
        ids = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=False, enable_thinking=thinking
        )
    except Exception as error:  # a template is a program of the model's: anything may come
        raise EngineFailure(
            "request",
            "The model's chat template could not take this conversation.",
            f"{type(error).__name__}: {error}",
            "Use a chat model, or remove the system prompt if the template refuses it.",
        ) from error
    return [int(token) for token in ids], text.rstrip().endswith(OPEN)
