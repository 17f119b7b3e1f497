"""What became of settings' keys from one schema of the file to the next. Pure.

A file says its schema by `schema = N` at its top; one that does not is of schema 1. A step, once released, never
changes: a key that moves or goes is a new step at the end of `STEPS`. A new key needs none.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_chat.settings.tree import UNSET, get, put

KEY = "schema"


@dataclass(frozen=True)
class Step:
    """`moved`: old dotted key -> new one, or None where it is gone. `values`: new dotted key -> its value from the
    old one's; it may raise nothing."""

    moved: Mapping[str, str | None]
    values: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


STEPS: tuple[Step, ...] = ()
"""The n-th brings a file from schema n + 1 to n + 2, counted from 0."""


def current() -> int:
    """The schema that this program writes, and the highest it can read."""
    return len(STEPS) + 1


def schema_of(tree: Mapping[str, Any]) -> int | None:
    """The file's schema; None where what stands there is no schema."""
    found = tree.get(KEY, 1)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 1 else None


def carried(tree: dict[str, Any], schema: int) -> dict[str, Any]:
    """The tree of a file of an older schema as this program's; of its own, as it is."""
    if schema >= current():
        return tree
    tree = copy.deepcopy(tree)
    for key, value in changes(tree, schema).items():
        put(tree, tuple(key.split(".")), value)
    return tree


def changes(tree: Mapping[str, Any], schema: int) -> dict[str, Any]:
    """Dotted key -> value or UNSET: what must be changed in a file of that schema. A key that stands there already
    under its new name wins."""
    now = copy.deepcopy(dict(tree))
    found: dict[str, Any] = {}
    for step in STEPS[schema - 1 :]:
        for old, new in step.moved.items():
            value = get(now, tuple(old.split(".")))
            if value is UNSET:
                continue
            put(now, tuple(old.split(".")), UNSET)
            found[old] = UNSET
            if new is not None and get(now, tuple(new.split("."))) is UNSET:
                value = step.values[new](value) if new in step.values else value
                put(now, tuple(new.split(".")), value)
                found[new] = value
    return found
