"""What a model's own files tell of it for a person: its kind, its licence, how it is quantised. Nothing is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spark_chat import ordinary
from spark_chat.models.sanity import LARGEST_JSON
from spark_chat.models.small import SMALL

SMALL_LICENCE = "Apache-2.0"

MOST = 200_000
"""Bytes of a README that are looked at."""


def about(path: Path) -> dict[str, Any]:
    """By name; a value that is not known is None."""
    folder = path if path.is_dir() else path.parent
    facts: dict[str, Any] = {"licence": licence(folder) if path.is_dir() or _alone(path) else None}
    if path.name == SMALL.file and facts["licence"] is None:
        facts["licence"] = SMALL_LICENCE  # kept without its card
    if not path.is_dir():
        return facts | {"kind": "GGUF, for llama.cpp"}
    try:
        config = json.loads(ordinary.read(path / "config.json", LARGEST_JSON))
        assert isinstance(config, dict)
    except (OSError, ValueError, AssertionError, RecursionError):
        return facts
    quantization = config.get("quantization_config")
    return facts | {
        "kind": "checkpoint, for SGLang",
        "architecture": _text((config.get("architectures") or [None])[0]),
        "quantised": _text(quantization.get("quant_method")) if isinstance(quantization, dict) else None,
        "context": config.get("max_position_embeddings"),
    }


def licence(folder: Path) -> str | None:
    """By the README's head, as the hubs want it; else by there being a LICENSE file."""
    try:
        readme = folder / "README.md"
        ordinary.check(readme, readme)
        with readme.open(encoding="utf-8", errors="replace") as file:
            text = file.read(MOST)
    except OSError:
        text = ""
    if text.startswith("---"):
        head = text[3:].partition("\n---")[0]
        found = {}
        for line in head.splitlines():
            key, separator, value = line.partition(":")
            if separator and key in ("license", "license_name", "license_link"):
                found[key] = _text(value.strip().strip("'\"")) or ""
        name = found.get("license_name") or found.get("license")
        if name:
            return f"{name} ({found['license_link']})" if found.get("license_link") else name
    try:
        file_names = sorted(
            entry.name for entry in folder.iterdir() if entry.name.upper().startswith(("LICENSE", "LICENCE"))
        )
    except OSError:
        return None
    return f"see {file_names[0]}" if file_names else None


def _alone(path: Path) -> bool:
    """Whether the folder is this model's own, and not one that holds many."""
    return (path.parent / "README.md").exists()


def _text(value: Any) -> str | None:
    """Made printable: what stands in a model's files is anyone's."""
    if not isinstance(value, str):
        return None
    return "".join(sign if sign.isprintable() else "?" for sign in value)[:200]
