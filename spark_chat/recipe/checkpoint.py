"""What a checkpoint's config.json says that decides which optimizations can work on it. Nothing is loaded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HYBRID = "bailing_hybrid"
DRAFT_LAYERS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "n_predict")


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
    return parsed(config) if isinstance(config, dict) else None


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
        mxfp4_experts=quantized.get("routed_experts_quant_method") == "mxfp4",
        tied_head=bool(both.get("tie_word_embeddings", False)),
        draft_layers=max(_count(both.get(key)) for key in DRAFT_LAYERS),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
