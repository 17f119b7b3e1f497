"""What the memory's bandwidth allows, and how much of it was reached.

Decoding one token after the other, a step must read all weights that a token uses (`shape.py`), so no more than
bandwidth / bytes a step can be made a second: the limit in tok/s without drafts. A step that checks drafts gives
accept-length tokens; steps a second are then decode tok/s / accept length, and that is what is held against the limit,
while the accept length itself is what speculation adds. The KV cache of a chat's few thousand tokens is left out: at
Ling-3.0-flash's 8 kB a token it is 0.2 % of a step at 1,000 tokens.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spark_chat.lab.bandwidth import Bandwidth, bandwidth
from spark_chat.lab.shape import Shape, UnknownShape, of_config, of_tensors
from spark_chat.machine import Machine


def shape_of(path: str, head: str = "bf16") -> Shape:
    """Of the model at `path`, a .gguf or a checkpoint's folder. Raises UnknownShape."""
    try:
        if Path(path).is_dir():
            return of_config(json.loads((Path(path) / "config.json").read_text(encoding="utf-8")), head)
        from spark_chat.engine import gguf_facts

        try:
            facts = gguf_facts.read(Path(path))
            listed = [(item.name, item.elements, item.bytes) for item in gguf_facts.tensors(Path(path))]
        except gguf_facts.BadGguf as error:
            raise UnknownShape(str(error)) from None
        return of_tensors(listed, facts.metadata, facts.output_tied)
    except (OSError, ValueError, TypeError) as error:
        raise UnknownShape(f"The model's shape can't be read: {error}.") from None


def of_record(record: dict[str, Any], path: str, machine: Machine, gb_s: float | None = None) -> dict[str, Any] | None:
    """The limit of what was measured with the model at `path`; None where it can't be told. `gb_s`: the bandwidth,
    where it is known. Blocks for a second or so, in which nothing else should run."""
    up = [item for item in record["configurations"] if item["runs_counted"]]
    if not up:
        return None
    fp8 = up[0]["optimizations"].get("fp8_head", {}).get("state") == "ACTIVE"
    try:
        shape = shape_of(path, "fp8" if fp8 else "bf16")
    except UnknownShape:
        return None
    found = bandwidth(machine, int(up[0]["facts"].get("threads") or 1), gb_s)
    return None if found is None else limit(shape, found, up)


def limit(shape: Shape, memory: Bandwidth, configurations: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """As it stands in a record. `configurations`: those of the record, as far as they were measured."""
    size = shape.bytes_per_step()
    tok_s = memory.gb_s * 1e9 / size
    return {
        "bytes_per_token": size,
        "weights": shape.weights,
        "active_weights": shape.active,
        "bandwidth_gb_s": memory.gb_s,
        "bandwidth_source": memory.source,
        "tok_s": tok_s,
        "reached": [_reached(item, tok_s) for item in configurations if item["decode_tok_s"]],
    }


def _reached(item: dict[str, Any], tok_s: float) -> dict[str, Any]:
    accept = item["accept_length"]["median"] if item["accept_length"] else None
    steps = item["decode_tok_s"]["median"] / (accept or 1.0)
    return {"configuration": item["name"], "steps_s": steps, "share": steps / tok_s, "speculation": accept}
