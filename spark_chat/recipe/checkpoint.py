"""What a checkpoint's config.json says that decides which optimizations can work on it. Nothing is loaded."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HYBRID = "bailing_hybrid"
DRAFT_LAYERS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "n_predict")
INDEX = "model.safetensors.index.json"
DRAFT_WEIGHTS = "mtp."
"""How the draft's weights begin where config.json says nothing of them (Qwen3-Next)."""
EXPERT = re.compile(r"\.experts\.\d+\.\w+\.weight$")
PACKED = ("U8", "I8", "F4")
"""Types of a safetensors file that hold two 4-bit values a byte."""


@dataclass(frozen=True)
class Checkpoint:
    """`experts`: layers have a mixture of experts; `mxfp4_experts`: in the form that Humming takes.
    `draft_layers`: layers of a multi-token-prediction block of its own."""

    architecture: str = ""
    model_type: str = ""
    experts: bool = False
    mxfp4_experts: bool = False
    tied_head: bool = False
    draft_layers: int = 0

    @property
    def hybrid(self) -> bool:
        """Whether it is of Ling 3.0's kind: linear attention beside MLA, so that a state cache exists."""
        return self.model_type == HYBRID


def read(folder: str) -> Checkpoint | None:
    """None where there is no config.json that can be read; the engine will then say what is wrong."""
    try:
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return _with_weights(parsed(config), Path(folder)) if isinstance(config, dict) else None


def _with_weights(found: Checkpoint, folder: Path) -> Checkpoint:
    """What config.json leaves open, read from the names and types of the weights."""
    try:
        weights = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        if not found.draft_layers and any(name.startswith(DRAFT_WEIGHTS) for name in weights):
            found = replace(found, draft_layers=1)
        if found.model_type == "deepseek_v4" and not found.mxfp4_experts:
            expert = next(name for name in weights if EXPERT.search(name))
            found = replace(found, mxfp4_experts=_types(folder / weights[expert])[expert]["dtype"] in PACKED)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
        pass  # a checkpoint in one file, or one that is broken: the engine will say so
    return found


def _types(shard: Path) -> dict[str, Any]:
    """The header of a safetensors file: a length of eight bytes, then that much JSON."""
    with shard.open("rb") as file:
        header: dict[str, Any] = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return header


def parsed(config: dict[str, Any]) -> Checkpoint:
    """From the whole config; a model that sees or hears keeps its text part's under `text_config`."""
    text = config.get("text_config")
    both: dict[str, Any] = {**config, **text} if isinstance(text, dict) else config
    quantization = config.get("quantization_config")
    quantized: dict[str, Any] = quantization if isinstance(quantization, dict) else {}
    architectures = config.get("architectures") or [""]
    return Checkpoint(
        architecture=str(architectures[0]),
        model_type=str(both.get("model_type") or ""),
        experts=any(_count(both.get(key)) > 1 for key in ("num_experts", "n_routed_experts", "num_local_experts")),
        mxfp4_experts="mxfp4" in (quantized.get("routed_experts_quant_method"), quantized.get("store_dtype")),
        tied_head=bool(both.get("tie_word_embeddings", False)),
        draft_layers=max(_count(both.get(key)) for key in DRAFT_LAYERS),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
