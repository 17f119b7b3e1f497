"""Model text is hostile: what a terminal may show of it. The stored text stays raw."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    "\x1b[\\[][0-?]*[ -/]*[@-~]?"  # CSI
    "|[\x1b][\\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    "|\x1b.?",
    re.DOTALL,
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` without control sequences, control characters other than tab and LF, and bidi overrides."""
    return _CONTROL.sub("", _ESCAPE.sub("", text.replace("\r\n", "\n")))
