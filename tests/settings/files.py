"""Settings files as people write them, for property tests: any style that TOML allows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from spark_chat.settings.keys import ACTIONS
from spark_chat.settings.schema import Row, rows, sections

WORDS = st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")), max_size=12)
NAMES = st.sampled_from(["n_batch", "n_ubatch", "flash-attn", "a b", "x.y", "é", "speculative"])
SCALARS = st.one_of(st.booleans(), st.integers(-(2**40), 2**40), st.floats(-1e9, 1e9), WORDS)
ENTRIES = st.one_of(SCALARS, st.lists(st.integers(0, 9), max_size=3))


def values(row: Row) -> st.SearchStrategy[Any]:
    """Valid values of a setting, None left out."""
    if row.kind == "bool":
        return st.booleans()
    if row.kind == "choice":
        return st.sampled_from(row.choices)
    if row.kind == "keys":  # one that no other action has
        at = list(ACTIONS).index(row.key.partition(".")[2])
        return st.just("") | st.just(f"{'ctrl+' * (at // 26)}alt+{chr(ord('a') + at % 26)}")
    if row.kind == "table":
        return st.dictionaries(NAMES, ENTRIES, max_size=3)
    if row.kind == "str":
        return st.one_of(
            WORDS, st.sampled_from(["a\nb", 'say "x"', "tab\there", "# no comment", "c:\\d", "''' \"\"\""])
        )
    low, high = row.minimum or 0, row.maximum or 0
    if row.kind == "float":
        return st.floats(low, high)
    numbers = st.integers(int(low), int(high))
    return numbers | st.sampled_from(row.choices) if row.choices else numbers


@dataclass(frozen=True)
class Written:
    """A file's text."""

    text: str


def _string(draw: st.DrawFn, value: str, one_line: bool) -> str:
    plain = all(char.isprintable() for char in value)
    styles = ["basic"]
    if plain and "'" not in value:
        styles.append("literal")
    if not one_line and plain and '"' not in value and "\\" not in value:
        styles.append("long")
    style = draw(st.sampled_from(styles))
    if style == "literal":
        return f"'{value}'"
    if style == "long":
        return f'"""\n{value}\\\n   """'
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(draw: st.DrawFn, value: Any, one_line: bool = False) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(draw, value, one_line)
    if isinstance(value, dict):
        inside = ", ".join(f"{_name(draw, name)} = {_value(draw, item, True)}" for name, item in value.items())
        return "{" + draw(st.sampled_from(["", " "])) + inside + "}"
    if isinstance(value, list):
        gap = "\n  # in a list\n  " if not one_line and value and draw(st.booleans()) else " "
        return (
            "[" + "".join(f"{gap}{_value(draw, item, one_line)}," for item in value)[: None if value else 0] + gap + "]"
        )
    return repr(value)


def _name(draw: st.DrawFn, name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare and draw(st.integers(0, 5)) else json.dumps(name, ensure_ascii=False)


def _line(draw: st.DrawFn, name: str, value: str) -> str:
    indent = draw(st.sampled_from(["", "", "", "  ", "\t"]))
    equals = draw(st.sampled_from([" = ", "=", "\t=  "]))
    tail = draw(st.sampled_from(["", "", " # why", "  ", "\t# mtp = true"]))
    return f"{indent}{name}{equals}{value}{tail}"


def _noise(draw: st.DrawFn, section: str, names: list[str]) -> list[str]:
    comments = ["", "", "# a note", f"# {section}.x", *(f"# {name} = 1" for name in names), "#[engine]"]
    return draw(st.lists(st.sampled_from(comments), max_size=2))


@st.composite
def files(draw: st.DrawFn) -> Written:
    """Any valid settings file."""
    top: list[str] = []
    blocks: list[list[str]] = []
    for section, _ in draw(st.permutations(list(sections()))):
        known = [row for row in rows() if row.key.startswith(section + ".")]
        names = [row.key.partition(".")[2] for row in known]
        chosen = draw(st.lists(st.sampled_from(known), unique_by=lambda row: row.key, max_size=4))
        if not chosen and draw(st.booleans()):
            continue
        style = draw(st.sampled_from(["header", "header", "header", "dotted", "inline"]))
        pairs = [(row.key.partition(".")[2], draw(values(row))) for row in chosen]
        if style == "inline":
            inside = ", ".join(f"{name} = {_value(draw, value, True)}" for name, value in pairs)
            top.append(_line(draw, section, "{ " + inside + " }"))
            continue
        body: list[str] = []
        apart: list[list[str]] = []
        for name, value in pairs:
            body += _noise(draw, section, names)
            prefix = f"{section}." if style == "dotted" else ""
            table = draw(st.sampled_from(["inline", "dotted", "header"])) if isinstance(value, dict) else ""
            if table == "dotted":
                body += [
                    _line(draw, f"{prefix}{name}.{_name(draw, entry)}", _value(draw, item))
                    for entry, item in value.items()
                ]
            elif table == "header" and style == "header":
                lines = [_line(draw, _name(draw, entry), _value(draw, item)) for entry, item in value.items()]
                apart.append([f"[{section}.{name}]", *lines])
            else:
                body.append(_line(draw, prefix + name, _value(draw, value)))
        if style == "dotted":
            top += body
        else:
            header = draw(st.sampled_from([f"[{section}]", f"[ {section} ]  # head", f'["{section}"]']))
            if body or not apart or draw(st.booleans()):
                blocks.append([header, *body, *_noise(draw, section, names)])
            blocks += apart
    lines = top + [line for block in draw(st.permutations(blocks)) for line in block]
    text = "\n".join(lines)
    text += draw(st.sampled_from(["", "\n", "\n\n", "\n# the end"])) if text else ""
    if draw(st.integers(0, 4)) == 0:
        text = text.replace("\n", "\r\n")
    if draw(st.integers(0, 9)) == 0:
        text = "\ufeff" + text
    return Written(text)
