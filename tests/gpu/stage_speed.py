"""Speed on the stand-in of Ling's shape: 1,024 tokens in, 256 out, greedy, batch 1; ratios inside one visit.

Nothing else may run while it is timed: a job waits at its gate once it is ready. App and raw engine take turns on the
same engine; the last answer runs under the profiler.
"""

from __future__ import annotations

import random
from pathlib import Path
from statistics import median
from typing import Any

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


def asks(thin: bool) -> list[dict[str, Any]]:
    hows = ["app"] if thin else ["app"] * WARM + ["app", "raw"] * RUNS + ["profile"]
    return [
        {"prompt": prompt(number), "max_tokens": 17 if thin else OUT, "thinking": False, "temperature": 0.0}
        | ({} if how == "app" else {"how": how})
        for number, how in enumerate(hows)
    ]


def job(name: str, model: Path, port: int, gate: Path | None = None, thin: bool = False) -> dict[str, Any]:
    """`thin`: a few layers of the same widths, for the compile caches alone."""
    config = CONFIGS[name]
    values: dict[str, Any] = {
        "engine.kind": "sglang", "engine.model": str(model), "engine.linger_s": 0, "engine.context": 8192,
        "engine.args": {"load_format": "dummy", "max_total_tokens": 32_768, "nccl_port": port},
        "optimizations.humming": config["toggles"][0], "optimizations.fp8_head": config["toggles"][1],
        "optimizations.mtp": config["toggles"][2], "optimizations.head": config.get("head", "auto"),
    }  # fmt: skip
    if thin:
        values["engine.args"]["mem_fraction_static"] = 0.8  # of what is free: others fill the GPU beside it
    found = {"name": f"{'thin' if thin else 'speed'}-{name}", "settings": values, "asks": asks(thin),
             "environment": {"SGLANG_SIMULATE_ACC_LEN": ACCEPT} if config["toggles"][2] else {}}  # fmt: skip
    if not thin:
        found["worker"] = "tests.gpu.lab_worker"
    if gate is not None:
        found["gate"] = str(gate)
    return found


def summary(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """The record of one configuration. Medians over the warm answers; `raw` beside them, from the same engine."""
    runs = found.get("runs", [])
    app = [run for run in runs if run.get("how") == "app"]
    record: dict[str, Any] = {
        "name": name, "ready_s": found.get("ready_s"), "stages": found.get("stages"),
        "states": {key: item.get("state") for key, item in found.get("optimizations", {}).items()},
        "reasons": {key: item.get("reason") for key, item in found.get("optimizations", {}).items()},
        "startup_time": (found.get("facts") or {}).get("startup_time"),
        "error": found.get("error") or found.get("failure"), "log_end": found.get("log_end", [])[-20:],
        "ttft_s_each": [run.get("ttft_s") for run in app],
    }  # fmt: skip
    warm = [run for run in app[WARM:] if run.get("tpot_s")]
    if warm:
        record |= figures(warm)
        record["first_over_later_ttft"] = app[0]["ttft_s"] / record["ttft_s"]
    raw = [run["engine_figures"] for run in runs if run.get("how") == "raw" and run["engine_figures"].get("tpot_s")]
    if raw and warm:
        record["raw"] = figures(raw)
        record["app_over_raw"] = record["raw"]["tpot_ms"] / record["tpot_ms"]
    profiles = [run["engine_figures"].get("profile") for run in runs if run.get("how") == "profile"]
    record["profile"] = profiles[0] if profiles else None
    return record


def figures(runs: list[dict[str, Any]]) -> dict[str, Any]:
    tpot = median(run["tpot_s"] for run in runs) * 1000
    lengths = [run["accept_length"] for run in runs if run.get("accept_length")]
    accept = median(lengths) if lengths else None
    return {
        "answers": len(runs), "tpot_ms": tpot, "tok_s": 1000 / tpot, "ttft_s": median(run["ttft_s"] for run in runs),
        "accept_length": accept, "step_ms": tpot * accept if accept else tpot,
    }  # fmt: skip


def with_ratios(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each against Humming alone: its speed, and its verify round over a plain step."""
    plain = next((record.get("tpot_ms") for record in records if record["name"] == "humming"), None)
    for record in records:
        if plain and record.get("tpot_ms"):
            record["speed_over_humming"] = plain / record["tpot_ms"]
            if record.get("accept_length"):
                record["verify_over_plain_step"] = record["step_ms"] / plain
    return records
