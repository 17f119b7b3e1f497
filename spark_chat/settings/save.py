"""Saving changes to a person's settings file: one line each, the rest byte for byte, all of them or none.

Imports tomlkit: import this where something is saved, not at start.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spark_chat import locations
from spark_chat.settings.atomic import one_writer, write_whole
from spark_chat.settings.edit import CannotEdit, edited
from spark_chat.settings.file import parse, read_file
from spark_chat.settings.problem import BadValue, CannotSave, InvalidFile
from spark_chat.settings.resolve import known_key
from spark_chat.settings.template import template
from spark_chat.settings.tree import UNSET, Unset
from spark_chat.settings.values import check_entry, checked
from spark_chat.settings.watch import signature

_ATTEMPTS = 5


def save(path: Path, changes: Mapping[str, Any]) -> bool:
    """Sets each dotted key to its value; UNSET (or None, where a setting may be left out) takes it out.

    Always starts from the file as it is now, and makes a commented one where there is none. Returns whether anything
    was written. Raises InvalidFile (the file is wrong, and left alone), UnknownKey, BadValue, CannotEdit or
    CannotSave, each with a sentence.
    """
    wanted: dict[str, Any] = {}
    for key, value in changes.items():
        row, entry = known_key(key)
        full = ".".join((row.key, *entry))
        if value is None or isinstance(value, Unset):
            if value is None and not (row.optional and not entry):
                raise BadValue(f"{full} has no value")
            wanted[full] = UNSET
        elif entry:
            check_entry((*row.key.split("."), *entry), value)
            wanted[full] = value
        else:
            wanted[full] = checked(row, value)
    try:
        locations.made(path.parent)
    except (OSError, ValueError) as error:
        raise CannotSave(f"The folder {path.parent} could not be made ({error}).") from error
    with one_writer(path):
        for _ in range(_ATTEMPTS):
            seen = signature(path)
            content = _content(path, wanted)
            if signature(path) != seen:
                continue  # an editor saved it meanwhile: what it wrote is not to be lost
            if content is not None:
                write_whole(path, content)
            return content is not None
    raise CannotSave(f"{path} keeps being written by another program. Nothing was changed; try again.")


def _content(path: Path, wanted: Mapping[str, Any]) -> bytes | None:
    """The file with the changes made; None where it says so already."""
    now = read_file(path)
    if now.problems:
        raise InvalidFile(now.problems)
    before = now.text if now.text is not None else template()
    text = edited(before, wanted)
    if now.exists and text == before:
        return None
    outcome = parse(path, text)
    if outcome.problems:
        raise CannotEdit(f"The change would break the file: {outcome.problems[0]}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadValue("The value has bytes in it that are no text") from error
