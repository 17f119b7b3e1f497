"""The display boundary: model text in, text that no terminal obeys out. What is stored stays raw.

`clean` maps characters one by one with one table and keeps no state, so cleaning chunk by chunk gives what cleaning
the whole gives, wherever a control sequence was cut. `calm` bounds floods of combining marks and works on whole
lines, so it belongs where lines are drawn.
"""

from __future__ import annotations

import re

CARRIAGE_RETURN = "\N{SYMBOL FOR CARRIAGE RETURN}"
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
MARKS_AT_MOST = 6
"""Combining marks kept on one character: Hebrew, Thai and Tibetan need four or five."""


def _table() -> dict[int, str]:
    """What each harmful character is shown as. Newline and tab are the only controls that stay."""
    table = {code: chr(0x2400 + code) for code in range(0x20)}
    del table[ord("\n")], table[ord("\t")]
    table[0x7F] = "\N{SYMBOL FOR DELETE}"
    table.update(dict.fromkeys(range(0x80, 0xA0), UNKNOWN))  # C1: 0x9B is a CSI to some terminals
    table[0x85] = table[0x2028] = table[0x2029] = "\N{SYMBOL FOR NEWLINE}"
    table.update(dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), UNKNOWN))  # bidi control
    table.update(dict.fromkeys((*range(0xE0000, 0xE0080), *range(0xFFF9, 0xFFFC), 0xFFFE, 0xFFFF), UNKNOWN))
    table.update(dict.fromkeys(range(0xD800, 0xE000), UNKNOWN))  # lone surrogates can't be written at all
    # Invisible by nature and of no use to a terminal: direction marks, soft hyphen, byte order mark.
    table.update(dict.fromkeys((0x200E, 0x200F, 0x061C, 0x00AD, 0xFEFF), ""))
    return table


_TABLE = _table()
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c7\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8"
    "\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u0f71-\u0f87\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200d\u2060-\u2064\u20d0-\u20f0\ufe00-\ufe0f\ufe20-\ufe2f"
    "\U000e0100-\U000e01ef"
)
_FLOOD = re.compile(f"([{_MARKS}]{{{MARKS_AT_MOST}}})[{_MARKS}]+")


def clean(text: str) -> str:
    """`text` with every control character, C1 code, bidi override, tag character and lone surrogate made harmless.

    `clean(a) + clean(b) == clean(a + b)` and `clean(clean(a)) == clean(a)`.
    """
    return text.translate(_TABLE)


def printable(text: str) -> str:
    """`text` as it can be drawn: cleaned, calmed, and without tabs."""
    return calm(clean(text).expandtabs(4))


def calm(line: str) -> str:
    """`line` with no more than MARKS_AT_MOST combining marks in a row."""
    return line if line.isascii() else _FLOOD.sub(r"\1", line)
