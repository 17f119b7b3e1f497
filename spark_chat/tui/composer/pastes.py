"""What a pasted text is. Pure.

A terminal sends a paste's line ends as it likes: xterm, VTE, kitty and tmux turn each LF into CR. So a paste that has
CR and no LF is the terminal's conversion, and its CRs become LFs again. One that has any LF is kept byte for byte,
CRs included.
"""

from __future__ import annotations

import re

INLINE_CHARACTERS = 2_000
INLINE_LINES = 12

_NOT_PLAIN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and LF; NEL among them
    "\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"  # invisible, bidi
    "\ud800-\udfff\U000e0000-\U000e0fff\U00100000-\U0010ffff]"  # surrogates, tags, the plane of the chips' marks
)


def received(text: str) -> str:
    """The pasted text, with the terminal's own conversion of line ends undone."""
    return text if "\n" in text else text.replace("\r", "\n")


def is_plain(text: str) -> bool:
    """Whether a text area keeps and shows `text` as it is: it alters CR, VT, FF, FS, GS, RS, NEL, U+2028 and U+2029,
    and would pass control and bidi characters on to the terminal."""
    return _NOT_PLAIN.search(text) is None


def fits_inline(text: str) -> bool:
    """Whether `text` is typed into the prompt, not shown as a chip."""
    return len(text) <= INLINE_CHARACTERS and text.count("\n") < INLINE_LINES and is_plain(text)


def lines(text: str) -> int:
    """Lines of `text`; a line end at its end begins no further one."""
    return text.count("\n") + (not text.endswith("\n"))
