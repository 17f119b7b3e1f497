"""Engine arguments by their own names -> the fields of a native parameter object, each refused by name where wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any

from spark_chat.engine.interface import EngineFailure


def apply(target: Any, args: Mapping[str, Any], reserved: Mapping[str, str]) -> list[str]:
    """Set `args` on `target`; returns the dotted names that were set.

    A name may be dotted ("cpuparams.n_threads") or nested tables, as TOML reads a dotted key. `reserved`: names that
    have a setting of their own -> what to use instead. Enums take their member's name or the end of it ("q8_0").
    Raises EngineFailure, code "request", before anything is loaded.
    """
    known = dict(_fields(target))
    done = []
    for name, value in _flat(args, known):
        if name in reserved:
            raise _refused(name, f"It has a setting of its own: use {reserved[name]}.", reserved[name])
        if name not in known:
            raise _refused(name, _nearest(name, known), "")
        *path, last = name.split(".")
        owner = target
        for part in path:
            owner = getattr(owner, part)
        converted = _converted(name, value, getattr(owner, last))
        try:
            setattr(owner, last, converted)
        except Exception as error:  # a native setter refuses in its own ways, AssertionError among them
            raise _refused(name, f"{value!r} can't be its value: {error}.", "") from error
        done.append(name)
    return done


def _refused(name: str, why: str, instead: str) -> EngineFailure:
    remedy = f"Remove engine.args.{name}" + (f" and set {instead}." if instead else ", or correct it.")
    return EngineFailure("request", f"The engine argument {name} can't be used.", why, remedy, argument=name)


def _fields(target: Any, prefix: str = "", depth: int = 4) -> Iterator[tuple[str, Any]]:
    """Dotted names of all plain fields of a native object, and of the objects in it."""
    for name in dir(target):
        if name.startswith("_"):
            continue
        value = getattr(target, name)
        if callable(value):
            continue
        if _is_object(value):
            if depth:
                yield from _fields(value, f"{prefix}{name}.", depth - 1)
        else:
            yield prefix + name, value


def _is_object(value: Any) -> bool:
    return value is not None and not isinstance(value, bool | int | float | str | bytes | list | tuple | set | dict)


def _flat(args: Mapping[str, Any], known: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in args.items():
        name = f"{prefix}{key}"
        inner = any(field.startswith(f"{name}.") for field in known)
        if isinstance(value, Mapping) and (inner or name not in known):
            yield from _flat(value, known, f"{name}.")
        else:
            yield name, value


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    last = name.rpartition(".")[2]
    lasts = {field: field.rpartition(".")[2] for field in known}
    alike = difflib.get_close_matches(last, set(lasts.values()), 2, 0.6)  # the same name first
    found = [field for like in alike for field in known if lasts[field] == like]
    found += difflib.get_close_matches(name, known, 2, 0.6)
    names = ", ".join(list(dict.fromkeys(found))[:4])
    return f"There is no such argument. The nearest known: {names}." if names else "There is none like it."


def _converted(name: str, value: Any, current: Any) -> Any:
    """`value` in the type of `current`. Raises EngineFailure."""
    if isinstance(current, IntEnum):
        return _member(name, value, type(current))
    if isinstance(current, bool):
        fits, wanted = isinstance(value, bool), "true or false"
    elif isinstance(current, int):
        fits, wanted = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    elif isinstance(current, float):
        fits, wanted = isinstance(value, int | float) and not isinstance(value, bool), "a number"
        value = float(value) if fits else value
    elif isinstance(current, str):
        fits, wanted = isinstance(value, str), "text"
    elif isinstance(current, dict):
        fits, wanted = isinstance(value, Mapping), "a table"
        value = dict(value) if fits else value
    else:
        fits, wanted = isinstance(value, list), "a list"
        if fits:
            value = _members(name, value, current)
    if not fits:
        raise _refused(name, f"{value!r} is no value for it: it takes {wanted}.", "")
    return value


def _members(name: str, values: list[Any], current: Any) -> Any:
    kinds = {type(item) for item in current}
    kind = kinds.pop() if len(kinds) == 1 else None
    converted = [_member(name, item, kind) if kind and issubclass(kind, IntEnum) else item for item in values]
    return set(converted) if isinstance(current, set) else converted


def _member(name: str, value: Any, kind: type[IntEnum]) -> IntEnum:
    if isinstance(value, int) and not isinstance(value, bool) and value in kind._value2member_map_:
        return kind(value)
    if isinstance(value, str):
        wanted = value.upper().replace("-", "_")
        found = [member for member in kind if member.name == wanted or member.name.endswith(f"_{wanted}")]
        exact = [member for member in found if member.name == wanted] or sorted(found, key=lambda m: len(m.name))
        if exact:
            return exact[0]
    allowed = ", ".join(sorted(member.name.removeprefix(f"{kind.__name__.upper()}_").lower() for member in kind))
    raise _refused(name, f"{value!r} is no value for it: it takes one of {allowed}.", "")
