"""The saved prompts there are: ours, and a person's own over them. Blocks on the disk: call it from a thread."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from spark_chat import locations, ordinary
from spark_chat.prompts.prompt import NAME, BadPrompt, Prompt, parse

LARGEST = 64 * 1024
"""Bytes of a prompt's file."""
MOST = 1_000
"""Files of a folder that are read."""

Kind = Literal["prompt", "system"]


class NotSaved(Exception):
    """The text is a sentence: why, and what to do."""


@dataclass(frozen=True)
class Library:
    """Prompts by name; `problems`: a sentence for each file that cannot be used."""

    prompts: Mapping[str, Prompt] = field(default_factory=dict)
    systems: Mapping[str, Prompt] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def of(self, kind: Kind) -> Mapping[str, Prompt]:
        return self.prompts if kind == "prompt" else self.systems

    def missing(self, kind: Kind, name: str) -> str:
        """A sentence for a name that is none."""
        near = get_close_matches(name, list(self.of(kind)), 1)
        what = "prompt" if kind == "prompt" else "system prompt"
        broken = next((problem for problem in self.problems if f"/{name}.md " in problem), "")
        if broken:
            return broken
        hint = f" Did you mean {near[0]}?" if near else f" They are files: {_folder(kind)}"
        return f"There is no {what} {name}.{hint}"


def load() -> Library:
    """All that can be used, and what is wrong with the rest. Raises nothing."""
    problems: list[str] = []
    found: dict[Kind, dict[str, Prompt]] = {}
    for kind in ("prompt", "system"):
        found[kind] = _read(locations.shipped_prompts(kind), problems)
        with contextlib.suppress(locations.NoHome):
            found[kind] |= _read(locations.own_prompts(kind), problems)
    return Library(found["prompt"], found["system"], tuple(problems))


def save(name: str, text: str) -> Path:
    """A new prompt of the person's own. Raises NotSaved; a file that is there is never written over."""
    if not NAME.fullmatch(name):
        raise NotSaved(f"{name or 'That'} is no name for a prompt: letters, digits, - and _, without spaces.")
    if not text.strip():
        raise NotSaved("There is nothing to save yet.")
    try:
        parse(name, text)
    except BadPrompt as bad:
        raise NotSaved(f"That cannot be saved as a prompt: {bad}.") from None
    data = (text if text.endswith("\n") else f"{text}\n").encode("utf-8", "replace")
    if len(data) > LARGEST:
        raise NotSaved(f"That is {len(data):,} bytes, and a prompt's file holds {LARGEST:,} at most.")
    try:
        path = locations.made(locations.own_prompts("prompt")) / f"{name}.md"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except FileExistsError:
        raise NotSaved(f"There is a prompt {name} already: {path}. Choose another name, or delete that file.") from None
    except locations.NoHome as error:
        raise NotSaved(str(error)) from None
    except OSError as error:
        raise NotSaved(f"The prompt {name} could not be saved: {error.strerror}.") from None
    return path


def to_save(argument: str, last: str) -> tuple[str, str]:
    """The name and the text that stand behind /save-prompt: the text is on the lines below, else the `last` prompt."""
    name, below, text = argument.partition("\n")
    return name.strip(), text if below else last


def _folder(kind: Kind) -> str:
    try:
        return f"{locations.own_prompts(kind)}/NAME.md"
    except locations.NoHome:
        return "prompts/NAME.md in the settings folder"


def _read(folder: Path, problems: list[str]) -> dict[str, Prompt]:
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".md")
    except FileNotFoundError:
        return {}
    except OSError as error:
        problems.append(f"The folder {folder} cannot be read: {error.strerror}.")
        return {}
    found = {}
    for file in files[:MOST]:
        try:
            if not NAME.fullmatch(file.stem):
                raise BadPrompt("its name has more in it than letters, digits, -, _ and dots")
            found[file.stem] = parse(file.stem, ordinary.read(file, LARGEST).decode("utf-8"))
        except OSError as error:
            problems.append(f"The prompt file {file} cannot be read: {error.strerror}.")
        except UnicodeDecodeError:
            problems.append(f"The prompt file {file} is not UTF-8 text.")
        except BadPrompt as bad:
            problems.append(f"The prompt file {file} is left out: {bad}{'' if str(bad).endswith('?') else '.'}")
    return found
