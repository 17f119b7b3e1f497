"""Speed on the stand-in of Ling's shape: 1,024 tokens in, 256 out, greedy, batch 1; ratios inside one visit."""

from __future__ import annotations

import random
import time
from pathlib import Path
from statistics import median
from typing import Any

from tests.gpu import jobs, stand_in
from tests.gpu.oracle_text import FIRST_WORD, word

PROMPT_WORDS, OUT, WARM, RUNS = 1_021, 256, 2, 5
ACCEPT = "2.68"
CONFIGS: dict[str, dict[str, Any]] = {
    "full": {"toggles": (True, True, True)},
    "humming": {"toggles": (True, False, False), "head": "bf16"},
    "humming+fp8": {"toggles": (True, True, False)},
    "humming+fp32": {"toggles": (True, False, False), "head": "fp32"},
    "humming+mtp": {"toggles": (True, False, True), "head": "bf16"},
}


def prompt(number: int) -> str:
    """Fresh words each time: a prompt that is cached would lie about the prefill."""
    rng = random.Random(number)
    return " ".join(word(rng.randrange(FIRST_WORD, 100_000)) for _ in range(PROMPT_WORDS))


def job(name: str, model: Path, port: int, module_args: dict[str, Any]) -> dict[str, Any]:
    config = CONFIGS[name]
    values: dict[str, Any] = {
        "engine.kind": "sglang", "engine.model": str(model), "engine.linger_s": 0, "engine.context": 8192,
        "engine.args": {"load_format": "dummy", "max_total_tokens": 32_768, "nccl_port": port, **module_args},
        "optimizations.humming": config["toggles"][0], "optimizations.fp8_head": config["toggles"][1],
        "optimizations.mtp": config["toggles"][2], "optimizations.head": config.get("head", "auto"),
    }  # fmt: skip
    asks = [{"prompt": prompt(number), "max_tokens": OUT, "thinking": False, "temperature": 0.0}
            for number in range(WARM + RUNS)]  # fmt: skip
    environment = {"SGLANG_SIMULATE_ACC_LEN": ACCEPT} if config["toggles"][2] else {}
    return {"name": f"speed-{name}", "settings": values, "asks": asks, "environment": environment}


def summary(name: str, found: dict[str, Any]) -> dict[str, Any]:
    runs = [run for run in found.get("runs", [])[WARM:] if run["tpot_s"]]
    record: dict[str, Any] = {
        "name": name, "ready_s": found.get("ready_s"), "stages": found.get("stages"),
        "states": {key: item.get("state") for key, item in found.get("optimizations", {}).items()},
        "error": found.get("error") or found.get("failure"), "log_end": found.get("log_end", [])[-20:],
    }  # fmt: skip
    first = [run["ttft_s"] for run in found.get("runs", [])]
    record["first_ttft_s"] = first
    if runs:
        record["tpot_ms"] = median(run["tpot_s"] for run in runs) * 1000
        record["tok_s"] = median(run["decode_tok_s"] for run in runs)
        record["ttft_s"] = median(run["ttft_s"] for run in runs)
        lengths = [run["accept_length"] for run in runs if run["accept_length"]]
        record["accept_length"] = median(lengths) if lengths else None
        if lengths:
            record["verify_ms"] = record["tpot_ms"] * record["accept_length"]
    return record


def run(out: Path, names: list[str], limit_s: float, deadline: float, raw: bool) -> list[dict[str, Any]]:
    model = Path("/tmp/stand_in")
    stand_in.write(model)
    records = []
    todo = [(name, "tests.gpu.chat_run") for name in names] + ([("full", "tests.gpu.raw_run")] if raw else [])
    for number, (name, module) in enumerate(todo):
        left = deadline - time.monotonic()
        if left < 60:
            records.append({"name": name, "error": "no time left to run it"})
            continue
        label = name if module.endswith("chat_run") else f"{name} (raw engine)"
        given = job(name, model, 32_000 + 10 * number, {})
        given["name"] += "" if module.endswith("chat_run") else "-raw"
        records.append(summary(label, jobs.run(given, out, min(limit_s, left), module)))
        print(records[-1], flush=True)
    return with_ratios(records)


def with_ratios(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each against Humming alone; the verify round against a plain step; the app against the raw engine."""
    by_name = {record["name"]: record for record in records}
    plain = by_name.get("humming", {}).get("tpot_ms")
    for record in records:
        if plain and record.get("tpot_ms"):
            record["speed_over_humming"] = plain / record["tpot_ms"]
            if record.get("verify_ms"):
                record["verify_over_plain_step"] = record["verify_ms"] / plain
    raw, app = by_name.get("full (raw engine)", {}).get("tok_s"), by_name.get("full", {}).get("tok_s")
    if raw and app:
        by_name["full"]["app_over_raw"] = app / raw
    return records
