"""The bound below a prompt's tokens: never over what a tokenizer makes of it."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine import least_tokens
from spark_chat.engine.least_tokens import ALWAYS_READ, Bound, bytes_of, longest_word
from spark_chat.engine.protocol import Turn
from tests.engine.oracle_gguf import END, write


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("oracle") / "oracle.gguf")


def test_the_longest_word_of_a_vocabulary(oracle: Path, tmp_path: Path) -> None:
    assert longest_word(oracle) == len("<|im_start|>") > len(END)
    assert longest_word(tmp_path / "absent.gguf") == 0


@pytest.mark.model
def test_the_longest_word_of_a_real_vocabulary(model: Path) -> None:
    assert longest_word(model) == 80  # a line of 80 number signs is one token there


def test_short_prompts_and_unknown_tokenizers_are_never_bounded(oracle: Path) -> None:
    assert Bound(oracle, "gpt2").least([Turn("user", "a" * ALWAYS_READ)]) == 0
    assert Bound(oracle, "t5").least([Turn("user", "a" * 10 * ALWAYS_READ)]) == 0
    assert Bound(oracle, None).least([Turn("user", "a" * 10 * ALWAYS_READ)]) == 0
    assert Bound(oracle, "gpt2").least([]) == 0
    whole = 12 * ALWAYS_READ
    assert Bound(oracle, "gpt2").least([Turn("user", "a" * whole)]) == whole // 12


def test_the_vocabulary_is_read_at_most_once(oracle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(least_tokens, "longest_word", lambda path: read.append(path) or 12)
    bound = Bound(oracle, "gpt2")
    assert bound.least([Turn("user", "a" * 100)]) == 0 and read == []
    for _ in range(2):
        assert bound.least([Turn("user", "a" * 2 * ALWAYS_READ)])
    assert read == [oracle]


@given(st.text(alphabet=string.printable + "é漢\u00a0\u2003\ud800"))
def test_what_a_template_may_leave_out_is_not_counted(text: str) -> None:
    long = "x" * ALWAYS_READ
    assert bytes_of([Turn("user", "x" * 10**6), Turn("user", text)]) == 0
    bare = "".join(text.split())
    assert bytes_of([Turn("user", f" \n{text} {long}\t")]) == len(bare.encode("utf-8", "replace")) + ALWAYS_READ
