"""Prompts from a file: JSONL, one a line, or a text that is one prompt. What is wrong is told with its line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, BinaryIO

from spark_chat.engine.protocol import MAX_FRAME, Turn
from spark_chat.lab.item import BadWorkload, Item

LONGEST = MAX_FRAME // 6 - 65_536
"""Bytes that fit a frame of the protocol whatever they are: one escaped byte takes six."""
ROLES = ("system", "user", "assistant")
SHAPE = '{"prompt": "…"} or {"messages": [{"role": "user", "content": "…"}]}'


def of_file(source: str, stdin: BinaryIO | None = None) -> tuple[Item, ...]:
    """The prompts in `source`: a .jsonl file, any other text file as one prompt, "-" for stdin. Raises BadWorkload."""
    shown = "stdin" if source == "-" else Path(source).name
    text = text_of(source, stdin)
    if Path(source).suffix.lower() in (".jsonl", ".ndjson"):
        return of_jsonl(text, shown)
    if not text.strip():
        raise BadWorkload(f"The prompt in {shown} is empty. Give some text.")
    return (Item(Path(shown).stem or shown, (Turn("user", text),)),)


def of_text(text: str, name: str = "prompt") -> Item:
    """A prompt as it was typed or pasted, byte for byte."""
    return Item(name, (Turn("user", text),))


def of_jsonl(text: str, shown: str) -> tuple[Item, ...]:
    """One item a line; empty lines are passed over. `shown` names the file in messages. Raises BadWorkload."""
    found: list[Item] = []
    names: dict[str, int] = {}
    for number, row in rows(text, shown):
        item = _item(row, number, f"{shown} line {number}")
        if item.name in names:
            raise BadWorkload(
                f"{shown} line {number}: the name {item.name!r} is that of line {names[item.name]} too. "
                "Give each prompt a name of its own."
            )
        names[item.name] = number
        found.append(item)
    return tuple(found)


def rows(text: str, shown: str) -> list[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line. Raises BadWorkload, also where there is none."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = error.msg if isinstance(error, json.JSONDecodeError) else "it can't be read"
            at = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
            raise BadWorkload(f"{shown} line {number} is no JSON: {what}{at}. Each line is {SHAPE}.") from None
        if not isinstance(row, dict):
            raise BadWorkload(f"{shown} line {number} is no JSON object. Each line is {SHAPE}.")
        found.append((number, row))
    if not found:
        raise BadWorkload(f"{shown} is empty: line 1 holds no prompt. Each line is {SHAPE}.")
    return found


def _item(row: dict[str, Any], number: int, where: str) -> Item:
    name = row.get("name", f"line {number}")
    if not isinstance(name, str) or not name.strip():
        raise BadWorkload(f"{where}: its name is no text.")
    prompt, messages = row.get("prompt"), row.get("messages")
    if isinstance(prompt, str) and prompt.strip():
        turns: tuple[Turn, ...] = (Turn("user", prompt),)
    elif isinstance(messages, list) and messages:
        turns = tuple(_turn(turn, where) for turn in messages)
        if turns[-1].role != "user":
            raise BadWorkload(f"{where}: the last message must be the user's, for that is what is answered.")
    else:
        raise BadWorkload(f"{where} holds no prompt. Each line is {SHAPE}.")
    return Item(" ".join(name.split())[:60], turns, str(row.get("kind", "")))


def _turn(turn: Any, where: str) -> Turn:
    if isinstance(turn, dict) and turn.get("role") in ROLES and isinstance(turn.get("content"), str):
        return Turn(turn["role"], turn["content"])
    raise BadWorkload(f"{where}: a message needs a role ({', '.join(ROLES)}) and a content that is text.")


def text_of(source: str, stdin: BinaryIO | None = None) -> str:
    """What stands in the file `source`, or comes from stdin for "-". Raises BadWorkload."""
    shown = "stdin" if source == "-" else Path(source).name
    data = _bytes(source, shown, stdin)
    if len(data) > LONGEST:
        raise BadWorkload(f"{shown} has more than {LONGEST:,} bytes, which is more than one message takes. Give less.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadWorkload(
            f"{shown} line {line} is not UTF-8: byte 0x{data[error.start]:02x}. "
            "Convert the file first, such as with iconv -t utf-8."
        ) from None


def _bytes(source: str, shown: str, stdin: BinaryIO | None) -> bytes:
    if source == "-":
        stream = stdin or (sys.stdin.buffer if sys.stdin is not None else None)
        if stream is None:
            raise BadWorkload("stdin is closed. Give the prompt in a file.")
        return stream.read(LONGEST + 1)
    try:
        path = Path(source).expanduser()
        if path.is_dir():
            raise BadWorkload(f"{source} is a folder. Name a file with prompts.")
        with path.open("rb") as file:
            return file.read(LONGEST + 1)
    except (ValueError, RuntimeError):
        raise BadWorkload(f"{shown!r} is no name of a file.") from None
    except OSError as error:
        raise BadWorkload(f"{source} can't be read: {error.strerror or error}.") from None
