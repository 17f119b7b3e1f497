"""A checkpoint with all its shapes and almost none of its layers: what the engine compiles for it, it finds compiled
for the whole model. It has no weights; the engine makes them up (load_format="dummy")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spark_chat.recipe.need import WEIGHTS

INDEX = "model.safetensors.index.json"
DENSE = "first_k_dense_replace"


def shortened(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with one layer of each kind: dense and with experts, linear attention and full attention. Lists that
    have an entry a layer are cut to match."""
    short = dict(config)
    if isinstance(config.get("text_config"), Mapping):
        short["text_config"] = shortened(config["text_config"])
    layers = config.get("num_hidden_layers")
    if not isinstance(layers, int) or isinstance(layers, bool):
        return short
    dense = 1 if _count(config.get(DENSE)) else 0
    kinds = 2 if _count(config.get("layer_group_size")) > 1 else 1
    kept = min(layers, dense + kinds)
    short["num_hidden_layers"] = kept
    if dense:
        short[DENSE] = 1
    if kinds == 2:
        short["layer_group_size"] = kept  # the last of a group is the one with full attention
    for name, value in config.items():
        if isinstance(value, list) and len(value) == layers:
            short[name] = value[:kept]
    return short


def lay_out(checkpoint: Path, folder: Path) -> dict[str, Any]:
    """`folder` becomes a checkpoint like it: every file but the weights as a link, and the config shortened; which is
    given back. Raises OSError or ValueError."""
    config = json.loads((checkpoint / "config.json").read_bytes())
    if not isinstance(config, dict):
        raise ValueError("config.json is no table")
    short = shortened(config)
    folder.mkdir(parents=True, exist_ok=True)
    for file in checkpoint.iterdir():
        if file.name not in ("config.json", INDEX) and file.suffix not in WEIGHTS and not file.name.startswith("."):
            (folder / file.name).symlink_to(file.resolve())
    (folder / "config.json").write_text(json.dumps(short))
    return short


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
