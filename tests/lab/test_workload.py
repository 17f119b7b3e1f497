"""Prompts from names and files; what is wrong is told with its line."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from spark_chat.lab import filler, prompts
from spark_chat.lab.item import BadWorkload
from spark_chat.lab.workload import workload


def refused(said: str, *sources: str, **options: object) -> None:
    with pytest.raises(BadWorkload) as told:
        workload(sources, **options)  # type: ignore[arg-type]
    assert said in str(told.value) and str(told.value).endswith((".", "FILE", "}", "…"))


def test_the_shipped_prompts_are_of_several_kinds() -> None:
    found = workload()
    assert found.name == "chat+code" and found.sampling["temperature"] == 0.0
    assert len(found.items) == len({item.name for item in found.items}) >= 12
    assert len({item.kind for item in found.items}) >= 10
    assert found.items[0].name.startswith("chat/")
    assert workload(("chat",)).items[0].digest == found.items[0].digest


def test_many_prompts_are_asked_there_and_back_and_few_three_times() -> None:
    assert [workload(names).rounds for names in ((), ("chat",), ("code",), ("synthetic-1k-64",))] == [2, 3, 3, 3]


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "mine.jsonl is empty: line 1"),
        ("\n\n  \n", "mine.jsonl is empty: line 1"),
        ('{"prompt": "a"}\n{"prompt": \n', "mine.jsonl line 2 is no JSON"),
        ('{"prompt": "a"}\n\n["b"]\n', "mine.jsonl line 3 is no JSON object"),
        ('{"text": "a"}', "mine.jsonl line 1 holds no prompt"),
        ('{"prompt": "  "}', "mine.jsonl line 1 holds no prompt"),
        ('{"prompt": 7}', "mine.jsonl line 1 holds no prompt"),
        ('{"messages": [{"role": "robot", "content": "a"}]}', "mine.jsonl line 1: a message needs a role"),
        ('{"messages": [{"role": "assistant", "content": "a"}]}', "line 1: the last message must be the user's"),
        ('{"name": "x", "prompt": "a"}\n{"name": "x", "prompt": "b"}', "mine.jsonl line 2: the name 'x' is that of"),
        ("[" * 100_000, "mine.jsonl line 1 is no JSON"),
    ],
)
def test_a_malformed_file_names_its_line(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(content)
    refused(said, str(file))


def test_bytes_that_are_no_text_name_their_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_bytes(b'{"prompt": "a"}\n{"prompt": "\xff"}\n')
    refused("mine.jsonl line 2 is not UTF-8", str(file))


def test_files_that_are_none(tmp_path: Path) -> None:
    refused("can't be read: No such file", str(tmp_path / "none.jsonl"))
    refused("is a folder", str(tmp_path))
    refused("There is no workload 'chta'", "chta")
    refused("gsm8k needs its questions", "gsm8k")
    refused("belong to the workload gsm8k", "chat", data="x.jsonl")
    refused("answered differently", "chat", "synthetic-1k-64")
    refused("chat is named twice", "chat", "chat")
    refused("too short", "synthetic-2-8")


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    rows = [{"name": "one", "prompt": "Hello\n"}, {"messages": [{"role": "system", "content": "Be brief."},
                                                               {"role": "user", "content": "Hi"}]}]  # fmt: skip
    file.write_text("\ufeff" + "\n".join(map(json.dumps, rows)) + "\n")
    found = workload((str(file),))
    assert [item.name for item in found.items] == ["one", "line 2"]
    assert found.items[0].messages[0].content == "Hello\n", "byte for byte"
    assert found.items[1].messages[0].role == "system"


def test_a_text_is_one_prompt(tmp_path: Path) -> None:
    file = tmp_path / "long prompt.txt"
    file.write_text("Sum this up:\r\n…\n")
    (item,) = workload((str(file),)).items
    assert item.messages[0].content == "Sum this up:\r\n…\n"
    (typed,) = prompts.of_file("-", io.BytesIO(b"Hi there"))
    assert typed.messages[0].content == "Hi there"


def test_synthetic_lengths() -> None:
    found = workload(("synthetic-32k-2k",))
    assert found.items[0].tokens == 32_768 and found.sampling["max_tokens"] == 2_048 and found.ignore_eos
    assert workload(("synthetic-500-64",)).items[0].tokens == 500


Tokenizer = Callable[[str], int | None]
TOKENIZERS: dict[str, Tokenizer] = {
    "a token a word": lambda text: len(text.split()),
    "three a word": lambda text: 3 * len(text.split()),
    "a token a byte": lambda text: 11 + len(text),
    "two a word, marks apart": lambda text: 2 * len(re.findall(r"\w+", text)) + text.count("."),
    "long words in parts": lambda text: sum(1 + (len(word) > 5) for word in text.split()),
}


@pytest.mark.parametrize("target", [64, 301, 1_000, 4_096])
@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
async def test_a_length_is_met_whatever_the_vocabulary(tokenizer: Tokenizer, target: int) -> None:
    asked: list[str] = []

    async def count(text: str) -> int | None:
        asked.append(text)
        return tokenizer(text)

    found = {await filler.exact(target, Random(number), count) for number in range(3)}
    if tokenizer("a b") == 6 and target % 3:
        assert found == {None}, "no text has it"
        return
    assert {tokenizer(text or "") for text in found} == {target} and len(found) == 3
    assert len(asked) <= 3 * (1 + filler.TRIES + len(filler.MARKS))


async def test_a_length_that_cannot_be_counted_or_had() -> None:
    async def never(text: str) -> int | None:
        return None

    async def long_template(text: str) -> int | None:
        return 500 + len(text.split())

    assert await filler.exact(1_001, Random(1), never) is None
    assert await filler.exact(300, Random(1), long_template) is None


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
async def test_prefixes_are_all_as_many_tokens(tokenizer: Tokenizer) -> None:
    async def count(text: str) -> int | None:
        return tokenizer(text)

    found = [await filler.even_prefix(Random(number), Random("set"), count) for number in range(20)]
    assert len(set(found)) == 20 and len({tokenizer(text) for text in found}) == 1


def test_prefixes_are_all_as_long() -> None:
    found = {filler.prefix(Random(number)) for number in range(200)}
    assert len(found) == 200 and len({len(text.split()) for text in found}) == 1
    assert len({text.split()[1] for text in found}) > 30, "they part at their second word"
