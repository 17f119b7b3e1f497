"""The words of `bench run` in one line."""

from __future__ import annotations

import pytest

from spark_chat.lab.item import BadWorkload
from spark_chat.lab.wish import Wish, wish


@pytest.mark.parametrize(
    "text, found",
    [
        ("", Wish()),
        ("chat code", Wish(("chat", "code"))),
        ("'my prompts.jsonl' --fresh", Wish(("my prompts.jsonl",), fresh=True)),
        ("gsm8k --data ~/test.parquet --questions 50", Wish(("gsm8k",), "~/test.parquet", 50)),
        ("gsm8k --data=a=b.jsonl", Wish(("gsm8k",), "a=b.jsonl")),
        ("chat --max-tokens 9 --fixed-length --sampled --resume",
         Wish(("chat",), max_tokens=9, fixed_length=True, sampled=True, resume=True)),
    ],
)  # fmt: skip
def test_what_it_says(text: str, found: Wish) -> None:
    assert wish(text) == found


@pytest.mark.parametrize(
    "text, said",
    [
        ("'open", "quotation mark"), ("--vary mtp=on", "no option --vary"), ("--data", "name of a file"),
        ("--questions", "not nothing"), ("--questions 0", "from 1"), ("--questions many", "not many"),
        ("--max-tokens 1", "from 2"), ("--questions ²", "whole number"), ("--fresh=yes", "no option --fresh=yes"),
    ],
)  # fmt: skip
def test_what_it_can_not_say(text: str, said: str) -> None:
    with pytest.raises(BadWorkload) as told:
        wish(text)
    assert said in str(told.value) and str(told.value).endswith(".")
