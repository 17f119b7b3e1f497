"""What the text that is being written may become: a command, a command's argument, a file. Pure.

Positions are columns of the line that the cursor is in; commands stand alone in their line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_chat.tui import commands

_ARGUMENT = re.compile(r"/([A-Za-z?][\w-]*)[ \t]+(\S*)")
_MENTION = re.compile(r"(?:^|(?<=\s))@([^\s@]*)\Z")

Arguments = Callable[[str], Sequence[tuple[str, str]]]
"""arguments(command): what it may be given, each with what it is."""


@dataclass(frozen=True)
class Suggestion:
    """`shown` and `about`: how it is listed. `text` takes the place of the columns `start` to the cursor. `path`: a
    file that is attached there."""

    shown: str
    about: str
    text: str
    start: int = 0
    path: Path | None = None


def of_commands(typed: str, arguments: Arguments) -> list[Suggestion]:
    """For what stands alone in the prompt so far; none for anything but a command."""
    found = [
        Suggestion(command.usage, command.help, f"/{command.name}{' ' if command.argument else ''}")
        for command in commands.completions(typed)
    ]
    begun = _ARGUMENT.fullmatch(typed)
    command = commands.find(begun[1]) if begun else None
    if begun is None or command is None:
        return found
    start, wanted = begun.start(2), begun[2].lower()
    rows = [(name, about) for name, about in arguments(command.name) if name != begun[2]]
    fitting = [row for row in rows if row[0].lower().startswith(wanted)]
    fitting += [row for row in rows if wanted and wanted in row[0].lower() and row not in fitting]
    return [*found, *(Suggestion(name, about, name, start) for name, about in fitting)]


@dataclass(frozen=True)
class Mention:
    """`@query` before the cursor; `start`: the column of the @."""

    start: int
    query: str


def mention(line: str, column: int) -> Mention | None:
    """The file that is being named where the cursor stands."""
    found = _MENTION.search(line[:column])
    return Mention(found.start(1) - 1, found[1]) if found else None
