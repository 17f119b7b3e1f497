"""All eight settings of the three toggles on the oracle: text, accept length and badges against what is known."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from tests.gpu import jobs
from tests.gpu.oracle_text import ASSISTANT, THINK, Oracle, word

NAMES = ("humming", "fp8_head", "mtp")
STEPS = 3
PROMPT = "Say what you know."
ASKS: list[dict[str, Any]] = [
    {"prompt": PROMPT, "max_tokens": 257, "thinking": False, "temperature": 0.0},
    {"prompt": PROMPT, "max_tokens": 257, "thinking": True, "temperature": 0.0},
    {"prompt": PROMPT, "max_tokens": 43, "thinking": True, "temperature": 0.0},
    {"prompt": PROMPT + " Once more.", "max_tokens": 513, "thinking": False, "temperature": 0.0},
    {"prompt": PROMPT, "max_tokens": 129, "thinking": False, "temperature": 0.6},
]
"""A prompt that ends in <think> goes on in the cycle whose drafts are all right, one that doesn't in the mixed one.
257 is 1 + 4 * 64: accept length is then exactly 4 in the first. 43 ends inside an accepted block."""


def base(model: Path, port: int) -> dict[str, Any]:
    return {
        "engine.kind": "sglang", "engine.model": str(model), "engine.linger_s": 0, "engine.context": 8192,
        "engine.args": {"max_total_tokens": 16_384, "nccl_port": port, "mem_fraction_static": 0.8},
    }  # fmt: skip


def settings_of(toggles: tuple[bool, ...]) -> dict[str, Any]:
    return {f"optimizations.{name}": on for name, on in zip(NAMES, toggles, strict=True)}


def make(model: Path) -> list[dict[str, Any]]:
    """All on first: it compiles the most."""
    found = []
    for number, toggles in enumerate(itertools.product((True, False), repeat=3)):
        name = "-".join(("" if on else "no_") + name for name, on in zip(NAMES, toggles, strict=True))
        found.append({"name": name, "toggles": toggles, "asks": ASKS,
                      "settings": base(model, 31_000 + 10 * number) | settings_of(toggles)})  # fmt: skip
    return found


def unshared(model: Path) -> dict[str, Any]:
    """Sharing taken away: FAILED or the engine's death, never a green badge."""
    return {"name": "unshared", "share_head": False, "asks": ASKS[:1],
            "settings": base(model, 31_200) | settings_of((True, True, True))}  # fmt: skip


def judge(job: dict[str, Any], found: dict[str, Any], oracle: Oracle) -> dict[str, Any]:
    """The record of one setting. `ok`: everything was as known."""
    toggles = tuple(job["toggles"])
    states = {name: found.get("optimizations", {}).get(name, {}).get("state") for name in NAMES}
    runs = [run_against(run, ask, toggles[2], oracle) for run, ask in zip(found.get("runs", []), job["asks"])]  # noqa: B905
    wanted = {name: "ACTIVE" if on else "OFF" for name, on in zip(NAMES, toggles, strict=True)}
    whole = len(runs) == len(job["asks"])
    return {
        **dict(zip(NAMES, toggles, strict=True)),
        "states": states,
        "states_right": states == wanted,
        "text_equal": whole and all(run["text_equal"] for run in runs),
        "counts_equal": whole and all(run["counts_equal"] for run in runs),
        "accept_length": [run["accept_length"] for run in runs],
        "accept_constructed": [run["accept_constructed"] for run in runs],
        "decode_tok_s": [run["decode_tok_s"] for run in runs],
        "ready_s": found.get("ready_s"),
        "reasons": {name: item.get("reason") for name, item in found.get("optimizations", {}).items()},
        "differences": [run["difference"] for run in runs if run["difference"]],
        "resolved_otherwise": otherwise(found),
        "error": found.get("error") or found.get("failure"),
        "log_end": found.get("log_end", [])[-25:],
        "ok": states == wanted and whole and all(run["text_equal"] and run["counts_equal"] for run in runs),
    }


def said(run: dict[str, Any]) -> list[str]:
    thought = run["reasoning"].split()
    return [*thought, *(["</think>"] if thought and run["text"] else []), *run["text"].split()]


def run_against(run: dict[str, Any], ask: dict[str, Any], mtp: bool, oracle: Oracle) -> dict[str, Any]:
    """Sampled text is the same as greedy: every other token is far behind."""
    expected = oracle.expect(THINK if ask["thinking"] else ASSISTANT, ask["max_tokens"], STEPS)
    seen, known = said(run), [word(token) for token in expected.tokens]
    place = next((at for at, pair in enumerate(itertools.zip_longest(seen, known)) if pair[0] != pair[1]), None)
    counts = (run["completion_tokens"], run["verify_steps"], run["accepted_drafts"], run["accepted_histogram"])
    right = (len(known), expected.verify_steps, expected.accepted_drafts, expected.histogram)
    # with a temperature the drafts are judged by chance where the target is not certain: only the text is held
    held = counts == right if mtp and ask["temperature"] == 0 else run["completion_tokens"] == len(known)
    difference = "" if place is None and held else f"first difference at {place}: {counts} for {right}"
    return {
        "text_equal": place is None,
        "counts_equal": held and (mtp or run["accept_length"] is None),
        "accept_length": run["accept_length"],
        "accept_constructed": expected.accept_length if mtp else None,
        "decode_tok_s": run["decode_tok_s"],
        "difference": difference,
    }


def otherwise(found: dict[str, Any]) -> dict[str, Any]:
    """Arguments that SGLang resolved to something else than the recipe says."""
    resolved = (found.get("facts") or {}).get("resolved") or {}
    return {name: [value, resolved[name]] for name, value in (found.get("args") or {}).items()
            if name in resolved and resolved[name] != value and value is not None}  # fmt: skip


def run(model: Path, out: Path, together: int, limit_s: float, deadline: float, only: str = "") -> list[dict[str, Any]]:
    oracle, wanted = Oracle.load(model), [job for job in make(model) if only in job["name"]]
    found = jobs.run_all(wanted, out, together, limit_s, deadline)
    return [judge(job, each, oracle) for job, each in zip(wanted, found, strict=True)]


def run_unshared(model: Path, out: Path, limit_s: float) -> dict[str, Any]:
    found = jobs.run(unshared(model), out, limit_s)
    states = {name: item.get("state") for name, item in found.get("optimizations", {}).items()}
    return {
        "states": states,
        "phase": found.get("phase"),
        "failure": found.get("failure") or found.get("error"),
        "reason": found.get("optimizations", {}).get("mtp", {}).get("reason"),
        "ok": states.get("mtp") != "ACTIVE" and bool(states),
    }
