"""Refuses engine arguments that SGLang does not know, by name, before anything loads.

ServerArgs' constructor takes any value for any field; only its command-line parser knows types and choices. Fields
that can break the chat are held to ranges of our own.
"""

from __future__ import annotations

import argparse
import difflib
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from spark_chat.engine.interface import EngineFailure

RANGES: dict[str, tuple[float, float]] = {
    "mem_fraction_static": (0.05, 0.98),
    "context_length": (64, 4_194_304),
    "chunked_prefill_size": (-1, 1_048_576),
    "max_running_requests": (1, 4096),
    "page_size": (1, 1024),
    "speculative_num_steps": (0, 16),
    "speculative_eagle_topk": (1, 16),
    "speculative_num_draft_tokens": (1, 64),
    "tp_size": (1, 64),
}
OWN = {
    "model_path": "engine.model names the model",
    "skip_tokenizer_init": "the chat needs the tokenizer",
    "incremental_streaming_output": "the chat reads the stream as increments",
    "tokenizer_worker_num": "the chat counts tokens in one process",
}
"""Fields that the app decides, and why."""


def check(args: Mapping[str, Any]) -> None:
    """Raises EngineFailure ("load") that names every argument at fault."""
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser(add_help=False)
    ServerArgs.add_cli_args(parser)
    problems = faults(args, parser, list(ServerArgs.__struct_fields__), typing.get_type_hints(ServerArgs))
    if problems:
        raise EngineFailure(
            "load",
            "SGLang would not take these engine arguments: " + " ".join(problems),
            "They come from engine.args in the settings file, or from the profile.",
            "Correct or remove them under engine.args.",
            arguments=[problem.split()[0] for problem in problems],
        )


def faults(
    args: Mapping[str, Any], parser: argparse.ArgumentParser, fields: Iterable[str], hints: Mapping[str, Any]
) -> list[str]:
    """A sentence an argument at fault."""
    known = [name for name in fields if not name.startswith("_")]
    actions = {action.dest: action for action in parser._actions}
    found = []
    for name, value in args.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, 3)
            found.append(f"{name} is no argument of SGLang{'; nearest: ' + ', '.join(near) if near else ''}.")
        elif name in OWN and value is not None:
            found.append(f"{name} can't be set: {OWN[name]}.")
        elif value is not None:
            problem = _value(name, value, actions.get(name), hints.get(name))
            if problem:
                found.append(problem)
    return found


def _value(name: str, value: Any, action: argparse.Action | None, hint: Any) -> str | None:
    choices = list(action.choices) if action is not None and action.choices is not None else None
    if choices is not None:
        wrong = [item for item in (value if isinstance(value, list) else [value]) if item not in choices]
        if wrong:
            near = difflib.get_close_matches(str(wrong[0]), [str(choice) for choice in choices], 1)
            hint_text = f" (nearest: {near[0]})" if near else ""
            allowed = ", ".join(sorted(map(str, choices)))
            return f"{name} = {wrong[0]!r} is not one of its values{hint_text}: {allowed}."
        return None
    allowed_types = _types(hint)
    if allowed_types and not _fits(value, allowed_types):
        names = " or ".join(sorted({kind.__name__ for kind in allowed_types}))
        return f"{name} = {value!r} must be {names}."
    if name in RANGES and isinstance(value, (int, float)):
        low, high = RANGES[name]
        if not low <= value <= high:
            return f"{name} = {value!r} must lie in {low} to {high}."
    return None


def _types(hint: Any) -> set[type]:
    """The plain types in a field's annotation; empty where there is one that can't be checked simply."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return _types(typing.get_args(hint)[0])
    if origin in (typing.Union, types.UnionType):
        parts = [_types(part) for part in typing.get_args(hint) if part is not type(None)]
        return set().union(*parts) if all(parts) else set()
    if origin is list:
        return {list}
    if hint in (bool, int, float, str):
        return {hint}
    return set()


def _fits(value: Any, allowed: set[type]) -> bool:
    if isinstance(value, bool):
        return bool in allowed
    if isinstance(value, int) and float in allowed:
        return True
    return isinstance(value, tuple(allowed))
