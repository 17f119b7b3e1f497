"""What llama.cpp says of itself in its log, which is where some facts stand alone: why a load failed, which
speculation was set up, how long the context became.

Its lines: "0.00.747.718 I spec common_specu: adding speculative implementation 'ngram-mod'" (time, level, source).
"""

from __future__ import annotations

import re
import sys
import time

from spark_chat.engine import logs
from spark_chat.engine.interface import EngineFailure

_LINE = re.compile(r"^\d+\.\d+\.\d+\.\d+ ([A-Z]) (.*)$")
_SOURCE = re.compile(r"^(?:[a-z]{3,4}\s+)?\S+?: +(?:\w+: +)?")
_MEMORY = ("failed to allocate", "unable to allocate", "out of memory", "bad_alloc", "cannot allocate memory")
WAIT_S = 2.0
"""The log is written by a thread of llama.cpp's own, which may be that late."""


class Capture:
    """The lines that this process's stderr log gets from here on; none where stderr is no log file."""

    def __init__(self) -> None:
        self._descriptor = sys.stderr.fileno()
        self._start = logs.size(self._descriptor)

    @property
    def readable(self) -> bool:
        return self._start is not None

    def until(self, *ends: str) -> list[str]:
        """The lines so far, once one has any of `ends` in it, or what there is after WAIT_S."""
        deadline = time.monotonic() + WAIT_S
        while True:
            lines = logs.since(self._descriptor, self._start, 4 * 1024 * 1024)
            if any(end in line for line in lines for end in ends) or not self.readable or time.monotonic() > deadline:
                return lines
            time.sleep(0.005)


def speculation(lines: list[str]) -> tuple[list[str], bool]:
    """Implementations that the server set up, and whether it took them into its decoding."""
    named = [match[1] for line in lines if (match := re.search(r"adding speculative implementation '([^']+)'", line))]
    return named, any("speculative decoding context initialized" in line for line in lines)


def speculation_error(lines: list[str]) -> str:
    """Why it did not, or ""."""
    for line in lines:
        if "speculative" in line and ("failed" in line or "not supported" in line):
            return message(line)
    return ""


def context(lines: list[str]) -> int | None:
    """Tokens of context that an answer has."""
    found = [int(match[1]) for line in lines if (match := re.search(r"n_ctx_slot = (\d+)", line))]
    return found[-1] if found else None


def thinking(lines: list[str]) -> bool | None:
    """Whether the chat template can turn thinking on and off; None where it was not said."""
    found = [match[1] == "1" for line in lines if (match := re.search(r"chat template, thinking = (\d)", line))]
    return found[-1] if found else None


def message(line: str) -> str:
    """A log line without time, level and source."""
    match = _LINE.match(line)
    return _SOURCE.sub("", match[2] if match else line, count=1).strip()


def failure(lines: list[str], name: str, error: str) -> EngineFailure:
    """Why the load of `name` failed, in a sentence."""
    errors = [message(line) for line in lines if (match := _LINE.match(line)) and match[1] == "E"]
    told = " | ".join(dict.fromkeys(errors)) or error
    low = told.lower()
    unknown = re.search(r"unknown model architecture: '([^']+)'", told)
    if unknown:
        return EngineFailure(
            "load",
            f"This llama.cpp does not know the architecture {unknown[1]!r} of {name}.",
            "The model is newer than the engine, or for another program.",
            "Update the engine with `pip install -U xllamacpp`, or choose another model.",
            architecture=unknown[1],
        )
    if any(word in low for word in _MEMORY):
        return EngineFailure(
            "memory",
            f"Memory ran out while {name} was loading.",
            told,
            "Choose a smaller model, or lower engine.context.",
        )
    if "file bounds" in low or "corrupted or incomplete" in low:
        return EngineFailure(
            "load", f"{name} is cut off or damaged.", told, "Fetch the file again, and compare its size and checksum."
        )
    if "template" in low:
        return EngineFailure(
            "load",
            f"llama.cpp can't use the chat template of {name}.",
            told,
            "Set engine.args.chat_template to another one, for example chatml.",
        )
    return EngineFailure(
        "load", f"llama.cpp could not load {name}.", told, "See the log's end, or choose another model."
    )
