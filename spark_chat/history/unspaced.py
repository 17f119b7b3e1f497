"""Words of writing that puts no spaces between them (Chinese, Japanese, Korean), as the index of words has them. Pure.

sqlite's unicode61 makes one word of a whole run of such characters, so that only the run's beginning could be found.
The index gets each run a second time, as pairs of neighbours: 今天天气 as 今天 天天 天气 气, where any part of it is a
pair, the beginning of one, or pairs that follow each other. What is written in other letters right beside a run gets
there as a word of its own. The text itself is indexed as it is, and one without such characters is nothing but that.

What `indexed` gives for a text, once released, never changes but with a migration: the index is taken apart by it.
"""

from __future__ import annotations

import re
import unicodedata

FUNCTION = "spark_chat_indexed"
"""What `indexed` is called in sqlite."""

LETTERS = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\uff66-\uff9d\U00020000-\U0003fffd"
)
"""The characters, as a part of a class of `re`: letters and marks of Han, Kana, Bopomofo and Hangul."""
WORDLIKE = rf"(?:(?![{LETTERS}])[^\W_])"
"""A letter or digit of other writing, for `re`."""

_RUN = re.compile(f"([{LETTERS}]+)")
_MIXED = re.compile(rf"[^\W_]*[{LETTERS}][^\W_]*")


def indexed(text: bytes | str | None) -> str:
    """What the index takes in of `text`, which may be the bytes of it."""
    whole = text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""
    if whole.isascii():
        return whole
    words = [
        _pairs(piece) if is_run(piece) else piece
        for found in _MIXED.findall(whole)
        for piece in split(found)
    ]  # fmt: skip
    return f"{whole}\n{' '.join(words)}" if words else whole


def split(word: str) -> list[str]:
    """The runs of `word`, and what stands between them."""
    return [piece for piece in _RUN.split(unicodedata.normalize("NFC", word)) if piece]


def is_run(piece: str) -> bool:
    """Whether a part of `split` is such a run."""
    return _RUN.fullmatch(piece) is not None


def match(run: str) -> str:
    """What finds `run` wherever it stands, in the language of FTS5."""
    return f'"{run}"*' if len(run) == 1 else '"' + " ".join(_neighbours(run)) + '"'


def _pairs(run: str) -> str:
    return " ".join([*_neighbours(run), run[-1]])


def _neighbours(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]
