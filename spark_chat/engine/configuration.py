"""What makes two engines the same: compared where a client wants to take over one that runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from spark_chat import __version__
from spark_chat.engine.protocol import Load

BEARING = ("CUDA_", "SGLANG_", "HUMMING_", "FLASHINFER_", "TRITON_", "TORCH", "GGML_", "LLAMA_", "OMP_", "NCCL_")
"""Beginnings of the names of variables that an engine or its libraries read."""

PROGRAMS = ("check", "bench", "prepare")


class Difference(NamedTuple):
    """One thing that is not the same: what it is, its value in the engine that runs, and the one that is wanted."""

    name: str
    there: str
    here: str

    def __str__(self) -> str:
        return f"{self.name}: {self.there} runs, {self.here} is wanted"


def told(load: Load, environment: Mapping[str, str], module: str, linger_s: float, alone: bool = False) -> Load:
    """`load` with all that tells one engine from another. `environment`: the recipe's; `module`: the worker's."""
    bearing = {name: text for name, text in os.environ.items() if name.startswith(BEARING)}
    return msgspec.structs.replace(
        load, environment={**bearing, **environment}, identity=identity(load.model), app=__version__,
        installed=f"{module} in {Path(__file__).resolve().parents[1]}, {sys.prefix}", program=program(sys.argv),
        linger_s=linger_s, alone=alone,
    )  # fmt: skip


def program(arguments: list[str]) -> str:
    """What a person calls the program that runs here."""
    named = next((word for word in arguments[1:] if word in PROGRAMS), "")
    return f"spark-chat {named}".rstrip()


def identity(model: str) -> str:
    """Of the model's files: sizes and times of their last change; "" where there is none to see."""
    path = Path(model)
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        return ";".join(_seen(file) for file in files if not file.name.startswith("."))
    except OSError:
        return ""


def _seen(file: Path) -> str:
    status = file.stat()
    return f"{file.name}:{status.st_size}:{status.st_mtime_ns}"


def differences(there: Load, here: Load) -> list[Difference]:
    """Between the engine that runs and the one that is wanted. Sampling and the screen's settings are no part of it:
    they come with each prompt."""
    found = [
        Difference(name, _said(getattr(there, field)), _said(getattr(here, field)))
        for name, field in (
            ("spark-chat's version", "app"), ("the installation", "installed"), ("engine", "engine"),
            ("engine.model", "model"), ("engine.context", "context"),
        )
        if getattr(there, field) != getattr(here, field)
    ]  # fmt: skip
    if there.model == here.model and there.identity != here.identity:
        found.append(Difference("the model's files", "an older state of them", "what is on disk now"))
    for prefix, field in (("optimizations.", "optimizations"), ("engine.args.", "args"), ("", "options"),
                          ("variable ", "environment")):  # fmt: skip
        found += _between(prefix, getattr(there, field), getattr(here, field))
    return found


def _between(prefix: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[Difference]:
    for name in sorted({*there, *here}):
        if there.get(name) != here.get(name):
            yield Difference(prefix + name, _said(there.get(name)), _said(here.get(name)))


def _said(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "on" if value else "off"
    text = str(value)
    return text if len(text) <= 80 else f"{text[:40]}…{text[-38:]}"
