"""The settings in force: defaults, the file over them, the environment over that, the command line over all."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spark_chat import locations
from spark_chat.settings import keys
from spark_chat.settings.file import SettingsFile, chosen_keys, clashing, read_file
from spark_chat.settings.flat import settings_of
from spark_chat.settings.problem import BadValue, Layer, Origin, Problem, UnknownKey, nearest
from spark_chat.settings.schema import Row, Settings, rows, value
from spark_chat.settings.values import read, read_entry

PREFIX = "SPARK_CHAT__"
"""`SPARK_CHAT__OPTIMIZATIONS__MTP=0` sets optimizations.mtp."""

_ROWS: dict[str, Row] = {row.key: row for row in rows()}
_LONE = {key.partition(".")[2]: key for key in _ROWS if not key.startswith(f"{keys.SECTION}.")}
"""Last part -> key; all last parts differ today, and `known_key` refuses one that would not."""


@dataclass(frozen=True)
class Flag:
    """A command-line flag that stands for one setting: `--model x` is Flag("--model", "engine.model", "x")."""

    name: str
    key: str
    text: str


@dataclass(frozen=True)
class Resolved:
    """Settings with where each came from, by dotted key; entries of a table too ("engine.args.n_batch").

    `file`: what the settings file says, apart from the layers over it; None where no place for one is known.
    `problems`: everything that was passed over, and why; what is named there is not in `settings`.
    """

    settings: Settings = field(default_factory=Settings)
    origins: dict[str, Origin] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    file: SettingsFile | None = None
    sets: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def path(self) -> Path | None:
        """Where the settings file is, or would be."""
        return self.file.path if self.file else None

    @property
    def saved(self) -> Settings:
        """What the file alone asks for: what a start without variables and flags would run."""
        return settings_of(self.file.values if self.file else {})

    def again(self, environ: Mapping[str, str] = os.environ) -> Resolved:
        """The same command line over the file as it is now."""
        return resolve(self.sets, environ, self.path, self.flags)

    def value(self, key: str) -> Any:
        """The value at a dotted key, or of one entry of a table. Raises KeyError."""
        parts = key.split(".")
        found = value(self.settings, ".".join(parts[:2]))
        for part in parts[2:]:
            if not isinstance(found, dict):
                raise KeyError(key)
            found = found[part]
        return found


def known_key(key: str) -> tuple[Row, tuple[str, ...]]:
    """The setting that a person's `key` names, and the path of an entry inside it where it is a table.

    A setting's last part alone will do ("mtp"), and "-" for "_". Raises UnknownKey.
    """
    name = key.strip()
    whole = name.lower().replace("-", "_")
    whole = _LONE.get(whole, whole)
    if whole in _ROWS:
        return _ROWS[whole], ()
    parts = name.split(".")
    table = _ROWS.get(".".join(parts[:2]).lower())
    if table is not None and table.kind == "table" and all(parts[2:]):
        return table, tuple(parts[2:])
    raise UnknownKey(name[:60], nearest(name[:60], _ROWS))


def assignment(text: str) -> tuple[Row, tuple[str, ...], Any]:
    """What `key=value` sets: the setting, the path inside a table, the value. Raises UnknownKey or BadValue."""
    key, equals, written = text.partition("=")
    row, path = known_key(key)
    if not equals:
        raise BadValue(f"{key.strip()} has no value", f"written as {row.key}=value")
    return row, path, read_entry((*row.key.split("."), *path), written) if path else read(row, written)


def resolve(
    argv_sets: Sequence[str] = (),
    environ: Mapping[str, str] = os.environ,
    path: Path | None = None,
    flags: Sequence[Flag] = (),
) -> Resolved:
    """Settings from all layers. Raises nothing: what can't be used is passed over and said in `problems`.

    `argv_sets`: texts "section.key=value", the last one wins. `path`: the settings file, else where it always is.
    `flags` stand over `argv_sets`.
    """
    layers = _Layers()
    file = None
    try:
        file = read_file(path if path is not None else locations.settings_file(environ))
    except locations.NoHome as error:
        layers.problems.append(Problem(str(error)))
    if file is not None:
        layers.problems += file.problems
        for key, found in file.values.items():
            layers.put(_ROWS[key], (), found, Origin("file", str(file.path)))
    for name in sorted(environ):
        if name.startswith(PREFIX):
            layers.take(name, environ[name], "environment")
    for text in argv_sets:
        layers.take("--set", text, "command line")
    for flag in flags:
        layers.take(flag.name, f"{flag.key}={flag.text}", "command line")
    layers.part_keys()
    return Resolved(
        settings_of(layers.values), layers.origins, tuple(layers.problems), file, tuple(argv_sets), tuple(flags)
    )


class _Layers:
    """Values put one over the other, lowest first."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins = {key: Origin() for key in _ROWS}
        self.problems: list[Problem] = []

    def take(self, source: str, text: str, layer: Layer) -> None:
        """One variable or flag."""
        if layer == "environment":
            named = source[len(PREFIX) :].replace("__", ".")
            text = f"{named.lower() if named.isupper() else named}={text}"
        detail = source
        try:
            row, path, found = assignment(text)
        except UnknownKey as unknown:
            near = unknown.nearest and (variable(unknown.nearest) if layer == "environment" else unknown.nearest)
            what = f"{unknown.key or 'a key without a name'} is no setting"
            self.problems.append(Problem(what, layer, key=unknown.key, source=detail, nearest=near))
        except BadValue as bad:
            key = known_key(text.partition("=")[0])[0].key
            problem = Problem(bad.what, layer, key=key, source=detail, allowed=bad.allowed)
            self.problems.append(replace(problem, instead="it is passed over") if layer == "environment" else problem)
        else:
            self.put(row, path, found, Origin(layer, detail))

    def put(self, row: Row, path: tuple[str, ...], found: Any, origin: Origin) -> None:
        if row.kind == "table" and found is not None:
            if not path:
                self._forget_entries(row.key)
                self.values[row.key] = copy.deepcopy(found)
                self.origins.update({f"{row.key}.{name}": origin for name in found})
            else:
                inside = self.values.setdefault(row.key, {})
                for part in path[:-1]:
                    if not isinstance(inside.get(part), dict):
                        inside[part] = {}
                    inside = inside[part]
                inside[path[-1]] = found
                self.origins[f"{row.key}.{path[0]}"] = origin
                self.origins[".".join((row.key, *path))] = origin
        else:
            self.values[row.key] = found
        self.origins[row.key] = origin

    def part_keys(self) -> None:
        """Take back keys that are given twice only once all layers lie over each other."""
        for clash in keys.clashes(chosen_keys(self.values)):
            key = f"{keys.SECTION}.{clash.action}"
            origin = self.origins[key]
            path = Path(origin.detail) if origin.layer == "file" else None
            problem = clashing(clash, origin.layer, path)
            self.problems.append(replace(problem, source="" if path else origin.detail))
            self.values.pop(key, None)
            self.origins[key] = Origin()

    def _forget_entries(self, key: str) -> None:
        for entry in [name for name in self.origins if name.startswith(key + ".")]:
            del self.origins[entry]


def variable(key: str) -> str:
    """The environment variable that overrides a dotted key."""
    return PREFIX + key.upper().replace(".", "__")
