"""The commented settings file that is made at first start: every key, its meaning, its range and its default."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

from spark_chat import locations
from spark_chat.settings import migrate
from spark_chat.settings.atomic import one_writer, write_whole
from spark_chat.settings.problem import CannotSave, Problem
from spark_chat.settings.schema import Row, rows, sections
from spark_chat.settings.values import allowed

WIDTH = 100


def template() -> str:
    """The file's text; as it stands it sets nothing."""
    lines = [
        "# Settings of spark-chat. Each key stands here with its default; take the # away to change it.",
        "# `spark-chat settings validate` checks this file, `spark-chat settings show` says what is in force and why.",
    ]
    if migrate.current() > 1:
        lines += ["", f"{migrate.KEY} = {migrate.current()}  # of this file's keys; leave it as it is"]
    listed = rows()
    for section, about in sections():
        lines += ["", "", f"[{section}]", f"# {about}"]
        for row in listed:
            if row.key.startswith(section + "."):
                lines += ["", *_entry(row)]
    return "\n".join(lines) + "\n"


def _entry(row: Row) -> list[str]:
    facts = [] if row.kind in ("str", "table") else [allowed(row)]
    facts += ["left out by default"] if row.default is None else []
    facts += ["takes effect at restart"] if row.restart else []
    lines = textwrap.wrap(row.doc, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    if facts:
        said = "; ".join(facts)
        lines.append(f"# {said[0].upper()}{said[1:]}.")
    return [*lines, f"# {row.key.partition('.')[2]} = {_example(row)}"]


def _example(row: Row) -> str:
    """The default as TOML; of a key that is left out by default, the lowest value."""
    value: Any = row.default if row.default is not None else row.minimum
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    return "{}" if isinstance(value, dict) else str(value)


def ensure(path: Path) -> Problem | None:
    """Makes the file where there is none; never touches one that is there. Why not, where it can't be made: the app
    runs all the same."""
    if os.path.lexists(path):
        return None
    try:
        locations.made(path.parent)
        with one_writer(path):
            if not os.path.lexists(path):
                write_whole(path, template().encode())
    except CannotSave as error:
        return Problem(f"{error} Defaults are used")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Problem(f"the settings file could not be made ({reason}); defaults are used", "file", path)
    return None
