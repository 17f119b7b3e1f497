"""The memory that a recipe needs here: `memory_need`'s estimate, fed from the files that lie on the disk."""

from __future__ import annotations

import json
from pathlib import Path

from spark_chat.machine import Machine
from spark_chat.recipe import memory_need
from spark_chat.recipe.memory_need import Need
from spark_chat.recipe.recipe import Recipe

WEIGHTS = (".safetensors", ".bin", ".pt")


LEAST_CONTEXT = 2048
"""Tokens of context that llama.cpp gets at the least; without engine.context it takes more where there is room."""


def need(recipe: Recipe, machine: Machine, gpu_memory: int | None = None) -> Need | None:
    """None where the model's files can't be read: the engine will say what is wrong with them.

    `gpu_memory`: bytes of the GPU's own memory; None where it shares the machine's."""
    path = Path(recipe.model.path)
    try:
        if recipe.engine != "sglang":
            return _llama(path, recipe.context)
        config = json.loads((path / "config.json").read_bytes())
        sizes = weight_sizes(path)
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict) or not sizes:
        return None
    wanted = {name: on and name not in recipe.unavailable for name, on in recipe.requested.items()}
    return memory_need.sglang(
        memory_need.shape(config), sum(sizes), max(sizes), gpu_memory or machine.memory_bytes, recipe.args,
        recipe.context, fp8_head=wanted.get("fp8_head", False), mtp=wanted.get("mtp", False),
    )  # fmt: skip


def _llama(path: Path, context: int) -> Need:
    """Raises OSError. A header that can't be read leaves the KV cache out."""
    from spark_chat.engine import gguf_facts

    files = _gguf(path)
    weights = sum(file.stat().st_size for file in files)
    try:
        found = gguf_facts.read(path)
    except gguf_facts.BadGguf:
        return memory_need.llama(weights)
    tokens = min(context or LEAST_CONTEXT, found.context or context or LEAST_CONTEXT)
    return memory_need.llama(weights, found.kv_bytes_per_token() or 0, tokens)


def weight_sizes(folder: Path) -> list[int]:
    """Bytes of each file of weights; those of one kind alone, where the same lies there twice. Raises OSError."""
    for suffix in WEIGHTS:
        sizes = [file.stat().st_size for file in sorted(folder.glob(f"*{suffix}"))]
        if sizes:
            return sizes
    return []


def weight_files(path: Path) -> list[Path]:
    """The files that the engine will read. Raises OSError."""
    if not path.is_dir():
        return _gguf(path)
    for suffix in WEIGHTS:
        if files := sorted(path.glob(f"*{suffix}")):
            return files
    return []


def _gguf(path: Path) -> list[Path]:
    stem = path.name.partition("-00001-of-")[0]
    return [path] if stem == path.name else sorted(path.parent.glob(f"{stem}-*-of-*.gguf"))
