"""`--vary humming=off,on --vary mtp=off,on` -> configurations: settings that differ in what is compared."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from spark_chat.optimizations.table import OPTIMIZATIONS
from spark_chat.settings.problem import BadValue, UnknownKey
from spark_chat.settings.resolve import assignment, known_key
from spark_chat.settings.schema import Settings, value

MOST = 64
"""Configurations a comparison may have."""
FIXED = {
    "engine.model": "two models give no comparison of settings; compare their records with `bench diff`",
    "engine.kind": "two engines run different models; compare their records with `bench diff`",
    "engine.linger_s": "it does not bear on speed",
    "optimizations.strict": "it does not bear on speed",
}


class BadVariation(Exception):
    """Why this can't be varied, in a sentence."""


@dataclass(frozen=True)
class Axis:
    """One setting and the values that it takes, in their order. `key` is dotted, with the entry of a table."""

    key: str
    values: tuple[Any, ...]

    @property
    def short(self) -> str:
        return self.key.removeprefix("optimizations.").removeprefix("engine.args.").removeprefix("engine.")


@dataclass(frozen=True)
class Configuration:
    """Settings under a name. `changes`: what was varied, by dotted key."""

    name: str
    settings: Settings
    changes: Mapping[str, Any] = field(default_factory=dict)


def toggles() -> tuple[str, ...]:
    """Names of the optimizations."""
    return tuple(item.name for item in OPTIMIZATIONS)


def axis(text: str) -> Axis:
    """`key=value,value…`. Raises BadVariation."""
    key, equals, written = text.partition("=")
    key = key.strip()
    known = f"Toggles are {', '.join(toggles())}; any other setting that takes effect at restart can be varied too."
    try:
        row, path = known_key(key)
    except UnknownKey as unknown:
        can = unknown.nearest and unknown.nearest.startswith(("engine.", "optimizations."))
        near = f" Did you mean {unknown.nearest}?" if can else ""
        raise BadVariation(f"There is no toggle {key or 'without a name'}.{near} {known}") from None
    if row.key in FIXED:
        raise BadVariation(f"{row.key} can't be varied: {FIXED[row.key]}.")
    if not row.restart or row.key.startswith("ui."):
        raise BadVariation(
            f"{row.key} can't be varied: answers of different sampling are not comparable. {known}"
            if row.key.startswith("sampling.")
            else f"{row.key} can't be varied: it does not bear on speed. {known}"
        )
    if row.kind == "table" and not path:
        raise BadVariation(f"Name one entry of {row.key}, such as {row.key}.n_batch=256,512.")
    texts = [part.strip() for part in written.split(",")] if equals else []
    if not texts or not all(texts):
        raise BadVariation(f"{key} needs values: {key}=off,on." if row.kind == "bool" else f"{key} needs values.")
    full = ".".join((row.key, *path))
    try:
        values = tuple(assignment(f"{full}={part}")[2] for part in texts)
    except BadValue as bad:
        raise BadVariation(str(bad)) from None
    if len({repr(item) for item in values}) < len(values):
        raise BadVariation(f"{key} has the same value twice.")
    return Axis(full, values)


def axes(texts: Sequence[str]) -> tuple[Axis, ...]:
    """All of them. Raises BadVariation."""
    found = tuple(axis(text) for text in texts)
    keys = [item.key for item in found]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice:
        raise BadVariation(f"{twice} is varied twice. Give all its values at once, with commas.")
    return found


def configurations(settings: Settings, varied: Sequence[Axis], cumulative: bool = False) -> tuple[Configuration, ...]:
    """All combinations, the last axis changing fastest; the first has each axis' first value.

    `cumulative`: the ladder alone: all first values, then one axis after the other at its last value. Without axes it
    is the settings as they are. Raises BadVariation where there are too many.
    """
    if cumulative:
        picks = [tuple(item.values[-1 if place < rung else 0] for place, item in enumerate(varied))
                 for rung in range(len(varied) + 1)]  # fmt: skip
    else:
        picks = list(product(*(item.values for item in varied)))
    if len(picks) > MOST:
        raise BadVariation(f"That makes {len(picks)} configurations; {MOST} are the most. Use --cumulative, or fewer.")
    return tuple(_configuration(settings, varied, pick) for pick in picks)


def _configuration(settings: Settings, varied: Sequence[Axis], pick: Sequence[Any]) -> Configuration:
    name = " ".join(f"{item.short}={said(value)}" for item, value in zip(varied, pick, strict=True))
    changes = {item.key: value for item, value in zip(varied, pick, strict=True)}
    for key, found in changes.items():
        settings = changed(settings, key, found)
    return Configuration(name or "as set", settings, changes)


def changed(settings: Settings, key: str, found: Any) -> Settings:
    """`settings` with the value at a dotted key replaced; of a table one entry."""
    section, name, *path = key.split(".")
    if path:
        table = copy.deepcopy(value(settings, f"{section}.{name}") or {})
        inside = table
        for part in path[:-1]:
            inside = inside.setdefault(part, {})
        inside[path[-1]] = found
        found = table
    return replace(settings, **{section: replace(getattr(settings, section), **{name: found})})


def said(found: Any) -> str:
    """A value as a person writes it."""
    return ("off", "on")[found] if isinstance(found, bool) else str(found)


def ladder(changes: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[tuple[int, str]]:
    """(place of a configuration, what it adds) for the cumulative table, as far as those are there that it needs.

    `changes` of each configuration; `keys` in the order in which they are added. The first configuration is the
    baseline; each further one differs from the one before it in one key alone.
    """
    if not changes:
        return []
    steps, at = [(0, "")], dict(changes[0])
    for key in keys:
        values = [item[key] for item in changes if key in item]
        if not values or values[-1] == at.get(key):
            continue
        at = {**at, key: values[-1]}
        place = next((place for place, item in enumerate(changes) if dict(item) == at), None)
        if place is None:
            return []
        steps.append((place, key))
    return steps if len(steps) > 1 else []
