"""A copy of the history file as it was before a newer schema was put on it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path


def keep(path: Path, connection: sqlite3.Connection, schema: int) -> Path:
    """The copy, beside the file, for this user alone; one that is there already, of the same schema, is kept and the
    new one gets a number. Whole or not there. Raises sqlite3.Error or OSError."""
    target = _free(path, schema)
    unfinished = target.with_name(target.name + ".part")
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
    try:
        copy = sqlite3.connect(unfinished)
        try:
            connection.backup(copy)
        finally:
            copy.close()
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return target


def _free(path: Path, schema: int) -> Path:
    target, n = path.with_name(f"{path.name}.schema-{schema}.backup"), 2
    while target.exists():
        target, n = path.with_name(f"{path.name}.schema-{schema}-{n}.backup"), n + 1
    return target
