"""The variables that Textual and rich read as they are imported. A value that one of them falls over is said in a
sentence beforehand: otherwise it ends in a traceback, or in a screen that is never drawn. Imports neither."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from spark_chat.settings.problem import printable

COLOR_SYSTEMS = ("auto", "standard", "256", "truecolor", "windows")
NUMBERS = {
    "ESCDELAY": 60_000, "TEXTUAL_FPS": 1_000, "TEXTUAL_SLOW_THRESHOLD": 3_600_000, "TEXTUAL_DIM_FACTOR": 100,
    "TEXTUAL_SCREENSHOT": 86_400, "TEXTUAL_SMOOTH_SCROLL": 1, "TEXTUAL_DEVTOOLS_PORT": 65_535,
    "COLUMNS": 10_000, "LINES": 10_000,
}  # fmt: skip
"""Variable -> the most that it may be: a number past it overflows as Textual is imported, or asks for a screen of
gigabytes. What is no number at all Textual passes over by itself."""

_SHORT = re.compile(r"\s*[+-]?\d{1,9}\s*", re.ASCII)


def refusal(environment: Mapping[str, str] = os.environ) -> str | None:
    """Which variable the chat can't be drawn with, and what to do; None where all is well."""
    colours = environment.get("TEXTUAL_COLOR_SYSTEM")
    if colours is not None and colours not in COLOR_SYSTEMS:
        return _sentence("TEXTUAL_COLOR_SYSTEM", colours, f"one of {', '.join(COLOR_SYSTEMS)}")
    for name, most in NUMBERS.items():
        text = environment.get(name, "")
        digits = text.strip().removeprefix("-").removeprefix("+").replace("_", "")
        if digits.isdecimal() and (not _SHORT.fullmatch(text) or abs(int(text)) > most):
            return _sentence(name, text, f"a number up to {most:,}")
    log = environment.get("TEXTUAL_LOG")
    if log and not _can_append(log):
        return _sentence("TEXTUAL_LOG", log, "a file that can be written")
    return None


def _can_append(path: str) -> bool:
    """Whether Textual, which opens it at each line, may."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o600))
    except (OSError, ValueError):
        return False
    return True


def _sentence(name: str, value: str, allowed: str) -> str:
    shown = printable(value)
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    return f'The variable {name} is "{shown}", and must be {allowed}. Set it to that, or unset it.'
