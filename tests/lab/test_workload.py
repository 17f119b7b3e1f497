"""Prompts from names and files; what is wrong is told with its line."""

from __future__ import annotations

import io
import json
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


@pytest.mark.parametrize("each, base", [(1, 25), (2, 9), (3, 0)])
async def test_a_length_is_found_whatever_a_word_costs(each: int, base: int) -> None:
    asked = []

    async def count(words: int) -> int | None:
        asked.append(words)
        return base + each * words

    target = base + each * 1_000
    assert await filler.words_for(target, count) == 1_000 and len(asked) <= 4


async def test_a_length_that_no_number_of_words_has() -> None:
    async def even(words: int) -> int | None:
        return 2 * words

    async def never(words: int) -> int | None:
        return None

    assert await filler.words_for(1_001, even) is None
    assert await filler.words_for(1_001, never) is None


def test_prefixes_are_all_as_long() -> None:
    found = {filler.prefix(Random(number)) for number in range(200)}
    assert len(found) == 200 and len({len(text.split()) for text in found}) == 1
    assert len({text.split()[1] for text in found}) > 30, "they part at their second word"
