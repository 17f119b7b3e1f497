"""The small parts of a request to SGLang: its sampling in full, and exact counts of what came of it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.protocol import Sampling

ADAPTIVE = {"1": {"candidate_steps": [1, 3, 5, 7], "up_hysteresis": 0.0, "down_hysteresis": -0.25, "ceiling_coeff": 0}}
"""SGLang's own entry for batch 1, alone: its other entries add step 0, which needs buffers that NEXTN has not."""
MODEL_SAMPLING = ("min_p", "repetition_penalty", "presence_penalty", "frequency_penalty")
"""Of a model's generation_config.json, passed on as they are; SGLang applies none of it by itself here."""


def params(sampling: Sampling, defaults: Mapping[str, Any], room: int) -> dict[str, Any]:
    """In full: SGLang's own defaults here are 128 tokens and no sampling settings of the model's. `room` in tokens."""
    found: dict[str, Any] = {
        **defaults,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k if sampling.top_k > 0 else -1,
        "max_new_tokens": min(sampling.max_tokens, room),
        "ignore_eos": sampling.ignore_eos,
    }
    if sampling.seed is not None:
        found["sampling_seed"] = sampling.seed
    return found


def kept(tokens: int, verify: int, accepted: int) -> int:
    """Accepted drafts without those past a stop or max_tokens inside the last accepted block.

    Uncut, an answer has 1 + verify + accepted tokens. A cut of c tokens drops the bonus token and c - 1 drafts.
    """
    cut = max(0, 1 + verify + accepted - tokens) if verify else 0
    return accepted - max(0, cut - 1)


def written(value: Any) -> str:
    descriptor, path = tempfile.mkstemp(prefix="spark-chat-adaptive-", suffix=".json")
    with os.fdopen(descriptor, "w") as file:
        json.dump(value, file)
    return path


def version() -> str:
    from sglang.version import __version__

    return str(__version__)


def generation_config(folder: Path) -> dict[str, Any]:
    """What the model's generation_config.json says beyond what the settings decide."""
    try:
        config = json.loads((folder / "generation_config.json").read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(config, dict):
        return {}
    return {name: config[name] for name in MODEL_SAMPLING if isinstance(config.get(name), (int, float))}


def resolved(args: Mapping[str, Any]) -> dict[str, Any]:
    """What SGLang made of the arguments that it was given: it changes some, and says so at most on its log."""
    from sglang.srt.runtime_context import get_context

    known = get_context().resolved_server_args_dict()
    return {
        name: known.get(name) for name in args if isinstance(known.get(name), (bool, int, float, str, list, type(None)))
    }


def revision(folder: Path) -> str:
    """A fingerprint of the code that a checkpoint brings along (its .py files); "" where it brings none."""
    files = sorted(folder.glob("*.py"))
    if not files:
        return ""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return "sha256:" + digest.hexdigest()


def trusted(folder: Path, said: Any) -> bool:
    """Whether the model's own code may run: only code that the person said yes to, at exactly this revision."""
    if said in (None, False):
        return False
    found = revision(folder)
    if not found or said == found:
        return bool(found)
    raise untrusted(folder)


def untrusted(folder: Path) -> EngineFailure:
    """What to tell of a model whose own code would have to run, with the yes that would let it."""
    return EngineFailure(
        "load",
        f"{folder.name} brings Python code of its own, and trust_remote_code does not name this revision of it.",
        "Code that comes with a model can do all that you can do, so a yes counts for one revision.",
        f'Read its .py files; to run them, set engine.args.trust_remote_code = "{revision(folder)}".',
    )
