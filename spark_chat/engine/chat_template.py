"""From a conversation to token ids, through the tokenizer's own chat template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.protocol import Turn
from spark_chat.engine.reasoning import OPEN


def prompt(tokenizer: Any, turns: Sequence[Turn], thinking: bool) -> tuple[list[int], bool]:
    """The ids, and whether the template left a thought open at their end. Raises EngineFailure."""
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
