"""On which line of a settings file something stands. tomllib doesn't say, so a mark is put there and looked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARK = "spark-chat-looks-for-this-7f3a91"
_HEADER = re.compile(r"^\ufeff?[ \t]*\[\[?[ \t]*([^\[\]#]+?)[ \t]*\]")
_KEY = re.compile(r"^\ufeff?[ \t]*([A-Za-z0-9_\-\"'. \t]+?)[ \t]*=")


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The line, from 1, where the value at `path` begins, or where its table does."""
    return _of_value(text.removeprefix("\ufeff"), path) or _of_name(text, ".".join(path))


def key_on(lines: Sequence[str], line: int) -> str | None:
    """The dotted key that is set on a line, counted from 1, of a file that may not be TOML."""
    assigned = _KEY.match(lines[line - 1])
    if assigned is None:
        return None
    section = ""
    for earlier in lines[: line - 1]:
        header = _HEADER.match(earlier)
        section = _plain(header[1]) + "." if header else section
    return section + _plain(assigned[1])


def _of_value(text: str, path: Sequence[str]) -> int | None:
    import tomlkit
    from tomlkit.container import OutOfOrderTableProxy
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import AoT, Table

    try:
        document = tomlkit.parse(text)
        target: object = document
        for part in path[:-1]:
            target = target[part] if isinstance(target, dict) else None
        if (
            not isinstance(target, dict)
            or path[-1] not in target
            or isinstance(target[path[-1]], Table | AoT | OutOfOrderTableProxy)
        ):
            return None
        target[path[-1]] = _MARK
        before, found, _ = tomlkit.dumps(document).partition(_MARK)
    except (TOMLKitError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return before.count("\n") + 1 if found else None


def _of_name(text: str, key: str) -> int | None:
    wanted = _plain(key)
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        header, assigned = _HEADER.match(line), _KEY.match(line)
        if header:
            section = _plain(header[1])
            name = section
        elif assigned:
            name = f"{section}.{_plain(assigned[1])}" if section else _plain(assigned[1])
        else:
            continue
        if name == wanted or name.startswith(wanted + "."):
            return number
    return None


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
