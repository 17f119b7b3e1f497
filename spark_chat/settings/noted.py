"""What the app notes for itself beside the last configuration that ran: lines of state.toml, by the keys of KEYS."""

from __future__ import annotations

import threading
import tomllib
from pathlib import Path
from typing import Any

from spark_chat import locations, ordinary
from spark_chat.settings.atomic import write_whole
from spark_chat.settings.file import LARGEST
from spark_chat.settings.problem import CannotSave

KERNELS = "kernels_offered"
KEYS = ("tour_shown", "setup", KERNELS)
LOCK = threading.Lock()
"""Held from reading the file to writing it: threads of this process note different things at the same time."""


def get(key: str, path: Path | None = None) -> Any:
    """What is noted under `key`; None where nothing is. Raises OSError, ValueError, RecursionError or NoHome where the
    file can't be read."""
    try:
        return _tree(path or locations.state_file()).get(key)
    except FileNotFoundError:
        return None


def put(key: str, value: bool | str, path: Path | None = None) -> None:
    """Note it. Raises nothing: where it can't be written, or what is there can't be read, the file stays as it is."""
    import tomli_w

    try:
        path = path or locations.state_file()
        locations.made(path.parent)
        with LOCK:
            try:
                tree = _tree(path)
            except FileNotFoundError:
                tree = {}
            write_whole(path, tomli_w.dumps({**tree, key: value}).encode("utf-8", "replace"))
    except (OSError, TypeError, ValueError, RecursionError, CannotSave, locations.NoHome):
        return


def all_of(path: Path) -> dict[str, Any]:
    """All that is noted, for who writes the whole file; nothing where it can't be read."""
    try:
        tree = _tree(path)
    except (OSError, ValueError, RecursionError):
        return {}
    return {key: tree[key] for key in KEYS if isinstance(tree.get(key), (bool, str))}


def _tree(path: Path) -> dict[str, Any]:
    return tomllib.loads(ordinary.read(path, LARGEST).decode("utf-8"))
