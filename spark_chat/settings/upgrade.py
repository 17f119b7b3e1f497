"""Bringing a person's settings file forward to this program's schema, with a copy of it as it was.

Imports tomlkit: import this where an old file was seen, not at start.
"""

from __future__ import annotations

import re
from pathlib import Path

from spark_chat.settings import migrate
from spark_chat.settings.atomic import one_writer, write_whole
from spark_chat.settings.edit import edited
from spark_chat.settings.file import parse, read_file, toml
from spark_chat.settings.problem import CannotSave, Problem, SettingsError

_LINE = re.compile(r"(?m)^schema[ \t]*=.*$")


def is_old(text: str | None) -> bool:
    """Whether the file is of an older schema; False for one that can't be read."""
    if text is None or migrate.current() == 1:
        return False
    try:
        schema = migrate.schema_of(toml(text))
    except (ValueError, RecursionError):
        return False
    return schema is not None and schema < migrate.current()


def forward(path: Path) -> Problem | None:
    """Nothing for a file that is not old. What is in the way, else; the settings are in force all the same."""
    try:
        with one_writer(path):
            now = read_file(path)
            if not is_old(now.text) or now.problems:
                return None
            text = brought(now.text or "")
            if parse(path, text).values != now.values:
                raise CannotSave("its values would not be the same after")
            schema = migrate.schema_of(toml(now.text or ""))
            _keep(path, schema or 1, (now.text or "").encode("utf-8"))
            write_whole(path, text.encode("utf-8"))
    except (SettingsError, OSError) as error:
        return Problem(f"the file is of an older schema and could not be brought forward ({error})", "file", path,
                       instead="it is read as it is")  # fmt: skip
    return None


def brought(text: str) -> str:
    """The file's text at this program's schema: the keys that moved, and the line that says so. Raises CannotEdit."""
    tree = toml(text)
    text = edited(text, migrate.changes(tree, migrate.schema_of(tree) or 1))
    line = f"{migrate.KEY} = {migrate.current()}"
    if migrate.KEY in tree:
        return _LINE.sub(line, text, count=1)
    return f"{line}  # of this file's keys; leave it as it is\n\n{text}"


def _keep(path: Path, schema: int, content: bytes) -> None:
    """A copy beside it; one that says the same already is enough."""
    target, n = path.with_name(f"{path.name}.schema-{schema}.backup"), 2
    while target.exists() and target.read_bytes() != content:
        target, n = path.with_name(f"{path.name}.schema-{schema}-{n}.backup"), n + 1
    if not target.exists():
        write_whole(target, content)
