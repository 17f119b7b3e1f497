"""`spark-chat logs`: what the engine and the app wrote down of themselves."""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from spark_chat.cli.lazy import BadInput
from spark_chat.cli.options import narrate, write
from spark_chat.logs.files import Kind, engine_files, newest
from spark_chat.logs.tail import Tail

EVERY_S = 0.25
WHOLE = 64 * 1024 * 1024
"""Bytes of a log that --grep looks through."""


@click.command("logs", short_help="Print what the engine and the app wrote down.")
@click.option("--engine", "kind", flag_value="engine", default="engine", help="The engine's, of its newest start.")
@click.option("--app", "kind", flag_value="app", help="The app's own: starts, failures, settings passed over.")
@click.option("--lines", type=click.IntRange(1), default=100, show_default=True, help="The last so many lines.")
@click.option("--grep", metavar="PATTERN", help="Only lines with this regular expression, whatever the case.")
@click.option("--follow", "-f", is_flag=True, help="Go on with what comes, until ctrl+c.")
@click.option("--files", is_flag=True, help="Print where the logs lie instead, the newest first.")
def command(kind: Kind, lines: int, grep: str | None, follow: bool, files: bool) -> int:
    """Print the end of a log, without its control characters. Neither log holds prompts or answers of the app's
    making; an engine that is told to may write down its requests.

    Exit code: 1 where there is none yet.
    """
    try:
        wanted = re.compile(grep or "", re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput(f"--grep {grep} is no regular expression: {error}.") from None
    path = newest(kind)
    if files:
        for one in engine_files() if kind == "engine" else [path] if path else []:
            write(str(one))
    if path is None and not follow:
        narrate("There is no log yet: " + ("no engine was started." if kind == "engine" else "no chat was started."))
        return 1
    if files:
        return 0
    tail = None
    if path is not None:
        tail = Tail(path, WHOLE if grep else max(512 * 1024, lines * 1024))
        found = [line for line in _lines(tail) + tail.rest() if wanted.search(line)]
        for line in found[-lines:]:
            write(line)
    if follow:
        _follow(kind, tail, wanted)
    return 0


def _lines(tail: Tail) -> list[str]:
    try:
        return tail.new()
    except OSError as error:
        raise click.ClickException(f"{tail.path} can't be read: {error.strerror}.") from None


def _follow(kind: Kind, tail: Tail | None, wanted: re.Pattern[str]) -> None:
    """Until ctrl+c. A log of a newer start takes the place of the one before."""
    from spark_chat.cli.lazy import flush

    while True:
        path: Path | None = newest(kind)
        if path is not None and (tail is None or path != tail.path):
            if tail is not None:
                narrate(f"A new start: {path.name}")
            tail = Tail(path)
        for line in _lines(tail) if tail is not None else ():
            if wanted.search(line):
                write(line)
        flush()
        time.sleep(EVERY_S)
