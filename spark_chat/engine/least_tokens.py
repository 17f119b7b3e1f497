"""How many tokens a prompt has at least, told without tokenising it.

llama.cpp turns about 1.5 MB a second into tokens, and a prompt of megabytes mostly turns out to be too long then. No
token holds more bytes than the longest word of the vocabulary, so bytes / longest is a bound that no tokenizer gets
below. Whitespace is left out on both sides: templates trim a prompt, and some tokenizers join blanks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spark_chat.engine import gguf_facts
from spark_chat.engine.protocol import Turn

ALWAYS_READ = 64 * 1024
"""Bytes of a prompt that are tokenised without asking: it takes no 0.1 s."""
_KINDS = ("gpt2", "llama")
"""Values of tokenizer.ggml.model whose words stand for all bytes that they take: byte-level BPE, SentencePiece."""
_BLANKS = ("Ġ", "Ċ", "ĉ", "č", "▁")
"""How those write space, newline, tab, carriage return, and SentencePiece's space."""


def bytes_of(turns: Sequence[Turn]) -> int:
    """Bytes of the last turn that are no whitespace: a template may leave out what came before, but never that one."""
    if not turns or len(turns[-1].content) <= ALWAYS_READ // 4:
        return 0
    return sum(len(word.encode("utf-8", "replace")) for word in turns[-1].content.split())


class Bound:
    """For the model in `path`. The vocabulary is read at the first prompt that is long enough."""

    def __init__(self, path: Path, kind: object) -> None:
        self._path = path if kind in _KINDS else None
        self._longest: int | None = None

    def least(self, turns: Sequence[Turn]) -> int:
        """Tokens that `turns` have at least; 0 where it is not known, or too few to be worth asking."""
        size = bytes_of(turns)
        if self._path is None or size <= ALWAYS_READ:
            return 0
        if self._longest is None:
            self._longest = longest_word(self._path)
        return -(-size // self._longest) if self._longest else 0


def longest_word(path: Path) -> int:
    """Bytes without whitespace that one token of the model in `path` holds at most; 0 where that can't be read."""
    try:
        words = gguf_facts.words(path)
    except (OSError, gguf_facts.BadGguf):
        return 0
    return max((len(_bare(word)) for word in words), default=0)


def _bare(word: bytes) -> bytes:
    """A byte above 127 is two bytes here where the vocabulary is written in GPT-2's stand-ins: the bound stays safe."""
    for blank in _BLANKS:
        word = word.replace(blank.encode(), b"")
    return b"".join(word.split())
