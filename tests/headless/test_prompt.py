"""The prompt of a check: taken whole and as it is, or refused in a sentence."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.codec import encode
from spark_chat.engine.protocol import Generate, Sampling, Turn
from spark_chat.headless import prompt


@given(st.text(min_size=1).filter(lambda text: text.strip()))
def test_stdin_is_one_prompt_byte_for_byte(text: str) -> None:
    assert prompt.read("-", BytesIO(text.encode())) == text


def test_a_file_is_one_prompt_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "prompt"
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\x00\r\xe2\x80\xa8c\n")
    assert prompt.read(str(file)) == "\ufeffa\r\nb\x00\r\u2028c\n"


def test_without_a_file_there_is_one_of_our_own() -> None:
    assert prompt.read(None) == prompt.BUILT_IN


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"abc\xff", r"not UTF-8: byte 0xff at offset 3"),
        (b"\xed\xa0\x80", r"not UTF-8"),
    ],
)
def test_bad_stdin_is_a_sentence(data: bytes, said: str) -> None:
    with pytest.raises(prompt.BadPrompt, match=said):
        prompt.read("-", BytesIO(data))


def test_bad_files_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(prompt.BadPrompt, match="No such file"):
        prompt.read(str(tmp_path / "none"))
    with pytest.raises(prompt.BadPrompt, match="is a folder"):
        prompt.read(str(tmp_path))
    with pytest.raises(prompt.BadPrompt, match="NUL"):
        prompt.read("a\0b")


def test_the_longest_prompt_fits_a_frame_and_a_longer_one_is_refused() -> None:
    worst = prompt.read("-", BytesIO(b"\x01" * prompt.LONGEST))
    assert encode(Generate(id="a" * 1000, messages=[Turn("user", worst)], sampling=Sampling()))
    with pytest.raises(prompt.BadPrompt, match="more than"):
        prompt.read("-", BytesIO(b"x" * (prompt.LONGEST + 1)))
    assert prompt.LONGEST > 10_000_000
