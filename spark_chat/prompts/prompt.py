"""A saved prompt: a Markdown file, with its settings in front where it has any.

    +++
    description = "Translate, and keep the form"

    [variables]
    language = "English"
    +++
    Translate into {{language}}: {{text}}

The part between the +++ lines is TOML and may be left out. `variables` gives values that stand in where nothing is
written. Pure: text in, prompt out.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

MARK = "+++"
KEYS = ("description", "variables")
PLACE = re.compile(r"\{\{[ \t]*([A-Za-z_][\w-]{0,63})[ \t]*\}\}")
"""A place to fill in: {{name}}."""
NAME = re.compile(r"\w[\w.-]{0,63}")
"""What a prompt may be called: its file's name without .md."""


class BadPrompt(Exception):
    """The text is a sentence's end: what is wrong with the file."""


@dataclass(frozen=True)
class Prompt:
    """`defaults`: what stands in for a place, by its name, where nothing is written."""

    name: str
    text: str
    description: str = ""
    defaults: dict[str, str] = field(default_factory=dict)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the places to fill in, in order, each once."""
        return tuple(dict.fromkeys(PLACE.findall(self.text)))

    @property
    def about(self) -> str:
        """What it is, in a line: its description, else how it begins."""
        return self.description or " ".join(self.text[:200].split())


def parse(name: str, raw: str) -> Prompt:
    """The prompt that a file of that name holds. Raises BadPrompt."""
    text = raw.removeprefix("\ufeff").replace("\r\n", "\n")
    head: dict[str, Any] = {}
    if text.partition("\n")[0].rstrip() == MARK:
        front, text = _front(text)
        try:
            head = tomllib.loads(front)
        except (ValueError, RecursionError) as error:
            raise BadPrompt(f"what stands between the {MARK} lines is no TOML: {error}") from None
    text = text.strip("\n")
    if not text.strip():
        raise BadPrompt("it holds no prompt")
    control = next((char for char in text if (ord(char) < 32 and char not in "\n\t") or char == "\x7f"), None)
    if control is not None:
        raise BadPrompt(f"it holds the control character 0x{ord(control):02x}")
    return Prompt(name, text, _description(head), _defaults(head, text))


def _front(text: str) -> tuple[str, str]:
    lines = text.split("\n")
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == MARK:
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    raise BadPrompt(f"it begins with {MARK}, and no second line {MARK} ends that part")


def _description(head: dict[str, Any]) -> str:
    for key in head:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, 1)
            raise BadPrompt(f"{key} is no key of a prompt" + (f"; did you mean {near[0]}?" if near else ""))
    found = head.get("description", "")
    if not isinstance(found, str):
        raise BadPrompt("description must be text in quotes")
    return " ".join(found.split())


def _defaults(head: dict[str, Any], text: str) -> dict[str, str]:
    found = head.get("variables", {})
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise BadPrompt('variables must be a table of texts, such as language = "English"')
    places = PLACE.findall(text)
    for name in found:
        if name not in places:
            raise BadPrompt(f"variables.{name} has no {{{{{name}}}}} in the text")
    return dict(found)
