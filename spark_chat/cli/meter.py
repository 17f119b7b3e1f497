"""A line of progress on stderr: rewritten in place on a terminal, one now and then where there is none."""

from __future__ import annotations

import shutil
import time
from types import TracebackType
from typing import TextIO

from spark_chat.settings.problem import printable

EVERY_S = 0.2
EVERY_LINE_S = 10.0
BAR = 20
"""Columns."""


class Meter:
    """`with Meter(sys.stderr) as meter: meter.show(0.5, "33 of 66 GB")`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._told: float | None = None
        self._last = ""
        self._wide = 0

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last and self._live:
            self._write(self._last)
            self._stream.write("\n")
            self._stream.flush()

    def show(self, fraction: float | None, text: str) -> None:
        """What there is to say now; most of it is left out, since it comes often."""
        self._last = self._line(fraction, printable(text))
        now = time.monotonic()
        if self._told is None or now - self._told >= (EVERY_S if self._live else EVERY_LINE_S):
            self._told = now
            self._write(self._last)

    def _line(self, fraction: float | None, text: str) -> str:
        if fraction is None:
            return text
        full = int(BAR * fraction)
        bar = f"[{'#' * full}{'.' * (BAR - full)}] " if self._live else ""
        return f"{bar}{fraction:>4.0%}  {text}"

    def _write(self, line: str) -> None:
        if not self._live:
            self._stream.write(line + "\n")
        else:
            shown = line[: max(10, shutil.get_terminal_size().columns - 1)]
            self._stream.write(f"\r{shown:<{self._wide}}")
            self._wide = len(shown)
        self._stream.flush()
